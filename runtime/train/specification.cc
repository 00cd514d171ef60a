// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/specification.h"

#include <charconv>
#include <utility>

#include "runtime/base/joined.h"
#include "runtime/base/nearest.h"

namespace mxc::train {
namespace {

// The part before the first `separator`; `rest` keeps what follows it.
std::string_view CutAt(char separator, std::string_view& rest) {
  const size_t end = rest.find(separator);
  const std::string_view part = rest.substr(0, end);
  rest = end == rest.npos ? std::string_view() : rest.substr(end + 1);
  return part;
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

template <class T>
bool ParseWhole(std::string_view text, T& value) {
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

Status UnknownName(const std::string& what, const std::string& name,
                   const std::vector<std::string_view>& known) {
  const std::string names = runtime::Joined(known, ", ");
  const std::string nearest =
      runtime::NearestNote(runtime::Nearest(name, known));
  return Fail(StatusCode::kInvalidArgument,
              "%s '%s' is unknown%s; expected one of %s", what.c_str(),
              name.c_str(), nearest.c_str(), names.c_str());
}

bool ParseNumber(std::string_view text, double& value) {
  if (text.starts_with('+')) text.remove_prefix(1);
  return ParseWhole(text, value);
}

bool ParseInteger(std::string_view text, int64_t& value) {
  return ParseWhole(text, value);
}

StatusOr<Specification> ParseSpecification(std::string_view text) {
  Specification result;
  std::string_view rest = text;
  result.name = LowerCase(CutAt(':', rest));
  if (result.name.empty()) {
    return Fail(StatusCode::kInvalidArgument,
                "expected name:key=value, but found '%s'",
                std::string(text).c_str());
  }
  while (!rest.empty()) {
    std::string_view part = CutAt(':', rest);
    const size_t equals = part.find('=');
    if (equals != part.npos) {
      result.arguments.push_back({std::string(part.substr(0, equals)),
                                  std::string(part.substr(equals + 1))});
      continue;
    }
    do {
      result.arguments.push_back({"", std::string(CutAt(',', part))});
    } while (!part.empty());
  }
  return result;
}

ArgumentReader::ArgumentReader(const Specification& specification,
                               std::string what)
    : specification_(specification),
      what_(std::move(what)),
      taken_(specification.arguments.size()) {}

const std::string* ArgumentReader::Take(std::string_view key) {
  const std::string* found = nullptr;
  for (size_t i = 0; i < taken_.size(); ++i) {
    if (specification_.arguments[i].key != key) continue;
    if (found != nullptr) {
      Refuse(Format("%s '%s': '%s' is given twice", what_.c_str(),
                    specification_.name.c_str(), std::string(key).c_str()));
    }
    taken_[i] = true;
    found = &specification_.arguments[i].value;
  }
  return found != nullptr && *found != "None" ? found : nullptr;
}

std::string ArgumentReader::NextPositional() {
  for (size_t i = 0; i < taken_.size(); ++i) {
    if (taken_[i] || !specification_.arguments[i].key.empty()) continue;
    taken_[i] = true;
    return specification_.arguments[i].value;
  }
  return "";
}

bool ArgumentReader::ReadPositional(double& value) {
  const std::string text = NextPositional();
  if (text.empty()) return false;
  if (!ParseNumber(text, value)) {
    Refuse(Format("%s '%s' has an illegal argument '%s'", what_.c_str(),
                  specification_.name.c_str(), text.c_str()));
  }
  return true;
}

bool ArgumentReader::Read(std::string_view key, double& value) {
  const std::string* text = Take(key);
  if (text == nullptr) return false;
  if (!ParseNumber(*text, value)) Illegal(key, *text, "a number");
  return true;
}

bool ArgumentReader::Read(std::string_view key, int64_t& value) {
  const std::string* text = Take(key);
  if (text == nullptr) return false;
  if (!ParseInteger(*text, value)) Illegal(key, *text, "an integer");
  return true;
}

bool ArgumentReader::Read(std::string_view key, bool& value) {
  const std::string* text = Take(key);
  if (text == nullptr) return false;
  const std::string word = LowerCase(*text);
  value = word == "true" || word == "1";
  if (!value && word != "false" && word != "0") {
    Illegal(key, *text, "true or false");
  }
  return true;
}

bool ArgumentReader::Read(std::string_view key, std::string& value) {
  const std::string* text = Take(key);
  if (text == nullptr) return false;
  value = *text;
  return true;
}

bool ArgumentReader::Read(std::string_view key, std::vector<double>& values) {
  const std::string* text = Take(key);
  if (text == nullptr) return false;
  std::string flat = *text;
  std::erase_if(flat, [](char c) { return c == '[' || c == ']'; });
  std::string_view rest = flat;
  values.clear();
  do {
    double value = 0;
    if (!ParseNumber(Trim(CutAt(',', rest)), value)) {
      Illegal(key, *text, "numbers");
    }
    values.push_back(value);
  } while (!rest.empty());
  return true;
}

bool ArgumentReader::Read(std::string_view key, std::vector<int64_t>& values) {
  std::vector<double> numbers;
  if (!Read(key, numbers)) return false;
  values.clear();
  for (const double number : numbers) {
    // Beyond 2^53 a double no longer holds every integer.
    const bool whole =
        number >= -0x1p53 && number <= 0x1p53 &&
        number == static_cast<double>(static_cast<int64_t>(number));
    if (!whole) Illegal(key, Format("%g", number), "integers");
    values.push_back(whole ? static_cast<int64_t>(number) : 0);
  }
  return true;
}

bool ArgumentReader::Read(std::string_view key,
                          const std::vector<std::string_view>& words,
                          int& value) {
  const std::string* text = Take(key);
  if (text == nullptr) return false;
  std::string expected;
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == *text) {
      value = static_cast<int>(i);
      return true;
    }
    expected += (i == 0 ? "" : " or ") + std::string(words[i]);
  }
  Illegal(key, *text, expected);
  return true;
}

void ArgumentReader::Illegal(std::string_view key, std::string_view value,
                             std::string_view expected) {
  Refuse(Format("%s '%s': '%s' is '%s', but must be %s", what_.c_str(),
                specification_.name.c_str(), std::string(key).c_str(),
                std::string(value).c_str(), std::string(expected).c_str()));
}

void ArgumentReader::Refuse(std::string message) {
  if (!status_.ok()) return;
  status_ = Status(StatusCode::kInvalidArgument, std::move(message));
}

Status ArgumentReader::Finish() {
  for (size_t i = 0; i < taken_.size(); ++i) {
    const Argument& argument = specification_.arguments[i];
    if (taken_[i]) continue;
    const std::string& shown =
        argument.key.empty() ? argument.value : argument.key;
    Refuse(Format("%s '%s' has no argument '%s'", what_.c_str(),
                  specification_.name.c_str(), shown.c_str()));
  }
  return status_;
}

}  // namespace mxc::train
