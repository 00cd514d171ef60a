// SPDX-License-Identifier: Apache-2.0
#include "runtime/fit/settings.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <string_view>
#include <type_traits>
#include <vector>

#include "runtime/base/joined.h"
#include "runtime/base/nearest.h"
#include "runtime/data/settings.h"

namespace mxc::fit {
namespace {

template <class T>
constexpr bool kIsOptional = false;
template <class T>
constexpr bool kIsOptional<std::optional<T>> = true;

data::Range RangeOf(const Limits& limits) {
  data::Range range;
  if (limits.least) range.least = *limits.least;
  if (limits.most) range.most = *limits.most;
  return range;
}

// Fields that takes values out of settings.
class SettingReader {
 public:
  explicit SettingReader(std::span<const Setting> settings)
      : settings_(settings) {}

  void Group(const char*) {}

  template <class T>
  void Number(const char* name, T& value, const Limits& limits,
              const std::string&, const Told& = {}) {
    const std::string* text = Find(name);
    if (text == nullptr) return;
    if constexpr (std::is_integral_v<T>) {
      int64_t read = 0;
      // Or -1 would be read as the largest number.
      data::Range range = RangeOf(limits);
      range.least = std::max(
          range.least, static_cast<double>(std::numeric_limits<T>::min()));
      range.most = std::min(range.most,
                            static_cast<double>(std::numeric_limits<T>::max()));
      if (data::ParseSetting(*text, range, &read)) {
        value = static_cast<T>(read);
      } else {
        Refuse(name, *text, data::Expectation(&read, RangeOf(limits)));
      }
    } else {
      double read = 0;
      const bool legal =
          data::ParseSetting(*text, RangeOf(limits), &read) &&
          !(limits.inside && (read == *limits.least || read == *limits.most));
      if (legal) {
        value = read;
      } else {
        Refuse(name, *text,
               data::Expectation(&read, RangeOf(limits)) +
                   (limits.inside ? ", neither included" : ""));
      }
    }
  }
  void Flag(const char* name, bool& value, const std::string&) {
    const std::string* text = Find(name);
    if (text == nullptr || data::ParseSetting(*text, {}, &value)) return;
    Refuse(name, *text, data::Expectation(&value, {}));
  }
  void Text(const char* name, std::string& value, const char*,
            const std::string&, Check check = nullptr) {
    const std::string* text = Find(name);
    if (text == nullptr) return;
    value = *text;
    const std::string wrong = check != nullptr ? check(value) : "";
    if (!wrong.empty()) errors_.push_back(std::string(name) + ": " + wrong);
  }
  void List(const char* name, std::vector<std::string>& values, const char*,
            const std::string&) {
    known_.emplace_back(name);
    for (const auto& [given, value] : settings_) {
      if (given == name) values.push_back(value);
    }
  }
  void Choice(const char* name, std::string& value,
              const std::vector<std::string>& names, const std::string&) {
    const std::string* text = Find(name);
    if (text == nullptr) return;
    value = *text;
    if (std::ranges::find(names, value) != names.end()) return;
    Refuse(name, value, runtime::Joined(names, " or "));
  }

  // Refuses what nothing is called, beside what was refused before.
  Status Finish() {
    std::set<std::string> seen;
    for (const auto& [name, value] : settings_) {
      const bool known = std::ranges::find(known_, name) != known_.end();
      if (known || !seen.insert(name).second) continue;
      errors_.push_back("no setting '" + name + "'" +
                        runtime::NearestNote(runtime::Nearest(name, known_)));
    }
    if (errors_.empty()) return {};
    return {StatusCode::kInvalidArgument, runtime::Joined(errors_, "; ")};
  }

 private:
  const std::string* Find(const char* name) {
    known_.emplace_back(name);
    const std::string* found = nullptr;
    for (const auto& [given, value] : settings_) {
      if (given == name) found = &value;
    }
    return found;
  }
  void Refuse(const char* name, const std::string& text,
              const std::string& expected) {
    errors_.push_back(std::string(name) + " is '" + text + "', expected " +
                      expected);
  }

  const std::span<const Setting> settings_;
  std::vector<std::string_view> known_;
  std::vector<std::string> errors_;
};

// Fields that tells of each a line.
class SettingHelp {
 public:
  void Group(const char* name) { text_ += std::string(name) + "\n"; }
  template <class T>
  void Number(const char* name, const T& value, const Limits&,
              const std::string& doc, const Told& told = {}) {
    std::string shown;
    if constexpr (!kIsOptional<T>) {
      if (told.shown) {
        shown = data::SettingText(
            std::conditional_t<std::is_integral_v<T>, int64_t, double>(value));
      }
    }
    Line(name, shown, doc);
  }
  void Flag(const char* name, const bool&, const std::string& doc) {
    Line(name, "0", doc);
  }
  void Text(const char* name, const std::string& value, const char*,
            const std::string& doc, Check = nullptr) {
    Line(name, value, doc);
  }
  void List(const char* name, const std::vector<std::string>&, const char*,
            const std::string& doc) {
    Line(name, "", doc);
  }
  void Choice(const char* name, const std::string& value,
              const std::vector<std::string>&, const std::string& doc) {
    Line(name, value, doc);
  }

  const std::string& text() const { return text_; }

 private:
  void Line(const std::string& name, const std::string& value,
            const std::string& doc) {
    std::string line = "  " + name + (value.empty() ? "" : "=" + value);
    constexpr size_t kColumn = 28;
    line.resize(std::max(line.size() + 2, kColumn), ' ');
    text_ += line + doc + "\n";
  }

  std::string text_;
};

}  // namespace

StatusOr<Request> ReadRequest(std::span<const Setting> settings) {
  Request request;
  SettingReader reader(settings);
  request.Describe(reader);
  MXC_RT_RETURN_IF_ERROR(reader.Finish());
  return request;
}

std::string DescribeSettings() {
  Request request;
  SettingHelp help;
  request.Describe(help);
  return help.text();
}

}  // namespace mxc::fit
