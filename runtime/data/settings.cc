// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/settings.h"

#include <charconv>
#include <cmath>

#include "runtime/base/nearest.h"

namespace mxc::data {
namespace {

constexpr size_t kMostExtents = 8;

std::string_view Trim(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

template <class T>
bool ParseNumber(std::string_view text, const Range& range, T* value) {
  text = Trim(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  T parsed{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, parsed);
  if (error != std::errc() || stop != end) return false;
  const auto number = static_cast<double>(parsed);
  if (!(number >= range.least && number <= range.most)) return false;
  *value = parsed;
  return true;
}

std::string Number(double value) { return runtime::Format("%.12g", value); }

std::string Bounds(const char* what, const Range& range) {
  const Range all;
  std::string text = what;
  if (range.least != all.least && range.most != all.most) {
    return text + " from " + Number(range.least) + " to " + Number(range.most);
  }
  if (range.least != all.least) text += " of at least " + Number(range.least);
  if (range.most != all.most) text += " of at most " + Number(range.most);
  return text;
}

template <class List>
std::string Join(const List& words, const char* separator) {
  std::string text;
  for (const auto& word : words) {
    if (!text.empty()) text += separator;
    text += word;
  }
  return text;
}

}  // namespace

bool ParseSetting(std::string_view text, const Range& range, int64_t* value) {
  return ParseNumber(text, range, value);
}
bool ParseSetting(std::string_view text, const Range& range, double* value) {
  return ParseNumber(text, range, value);
}
bool ParseSetting(std::string_view text, const Range&, bool* value) {
  text = Trim(text);
  const bool yes = text == "1" || text == "true" || text == "True";
  const bool no = text == "0" || text == "false" || text == "False";
  if (yes || no) *value = yes;
  return yes || no;
}
bool ParseSetting(std::string_view text, const Range&, std::string* value) {
  *value = text;
  return true;
}
bool ParseSetting(std::string_view text, const Range& range, Extents* value) {
  text = Trim(text);
  if (text.starts_with('(') && text.ends_with(')')) {
    text = Trim(text.substr(1, text.size() - 2));
    if (text.ends_with(',')) text.remove_suffix(1);
  }
  Extents extents;
  while (extents.size() < kMostExtents) {
    const size_t end = text.find_first_of(",x");
    int64_t extent = 0;
    if (!ParseNumber(text.substr(0, end), range, &extent)) return false;
    extents.push_back(extent);
    if (end == std::string_view::npos) {
      *value = std::move(extents);
      return true;
    }
    text.remove_prefix(end + 1);
  }
  return false;
}

std::string Expectation(const int64_t*, const Range& range) {
  return Bounds("a whole number", range);
}
std::string Expectation(const double*, const Range& range) {
  return Bounds("a number", range);
}
std::string Expectation(const bool*, const Range&) { return "0 or 1"; }
std::string Expectation(const std::string*, const Range&) { return "text"; }
std::string Expectation(const Extents*, const Range& range) {
  return Bounds("whole numbers", range) + ", like 3,32,32";
}

std::string SettingText(int64_t value) { return std::to_string(value); }
std::string SettingText(double value) { return Number(value); }
std::string SettingText(bool value) { return value ? "1" : "0"; }
std::string SettingText(const std::string& value) { return value; }
std::string SettingText(const Extents& value) {
  std::vector<std::string> words;
  for (const int64_t extent : value) words.push_back(std::to_string(extent));
  return Join(words, ",");
}

const Settings SettingsReader::kNone;

const std::string* SettingsReader::Find(
    const char* name, std::initializer_list<const Settings*> lists) {
  legal_.push_back(name);
  const std::string* found = nullptr;
  for (const Settings* list : lists) {
    for (const auto& [key, text] : *list) {
      if (key == name) found = &text;
    }
  }
  return found;
}

void SettingsReader::ReadChoice(const char* name, const Choices& names,
                                int* number) {
  const std::string* text = Find(name, {&offered_, &settings_});
  if (text == nullptr) return;
  int k = 0;
  for (const char* choice : names) {
    if (*text == choice) *number = k;
    if (*text == choice) return;
    ++k;
  }
  Refuse(name, *text, "one of " + Join(names, ", "));
}

void SettingsReader::Refuse(const char* name, const std::string& text,
                            const std::string& expected) {
  errors_.push_back(std::string(name) + "=" + text + ": expected " + expected);
}

Status SettingsReader::Finish(const std::string& source) {
  const std::set<std::string> legal(legal_.begin(), legal_.end());
  const std::vector<std::string_view> names(legal.begin(), legal.end());
  bool unknown = false;
  for (const auto& [key, text] : settings_) {
    if (legal.contains(key)) continue;
    unknown = true;
    errors_.push_back("option '" + key + "' is unknown" +
                      runtime::NearestNote(runtime::Nearest(key, names)));
  }
  if (errors_.empty()) return {};
  std::string message = source + ": " + Join(errors_, "; ");
  if (unknown) message += "; its options are " + Join(legal, ", ");
  return {StatusCode::kInvalidArgument, std::move(message)};
}

std::string SettingsHelp::Either(const Choices& names, const char* doc) {
  return std::string(doc) + ": " + Join(names, ", ");
}

void SettingsHelp::Line(const std::string& name, const std::string& value,
                        const std::string& doc) {
  std::string left = "  " + name + "=" + value;
  left.resize(std::max<size_t>(left.size() + 2, 30), ' ');
  text_ += left + doc + "\n";
}

}  // namespace mxc::data
