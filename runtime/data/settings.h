// SPDX-License-Identifier: Apache-2.0
// Options as text: one Describe of each options struct parses it and prints it.
//
//   struct MnistOptions {
//     bool flat = false;
//     template <class Fields> void Describe(Fields& f) {
//       f("flat", flat, "one axis of 784 pixels instead of 1x28x28");
//     }
//   };
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/data/iterator.h"

namespace mxc::data {

// What a number may be, both ends included.
struct Range {
  double least = std::numeric_limits<double>::lowest();
  double most = std::numeric_limits<double>::max();
};
constexpr Range kAtLeast0{0}, kAtLeast1{1};
constexpr Range kShare{0, 1};

using Extents = std::vector<int64_t>;  // "3,32,32", "(3, 32, 32)" or "3x32x32"

// Parses one value; false where `text` is none.
bool ParseSetting(std::string_view text, const Range& range, int64_t* value);
bool ParseSetting(std::string_view text, const Range& range, double* value);
bool ParseSetting(std::string_view text, const Range& range, bool* value);
bool ParseSetting(std::string_view text, const Range& range,
                  std::string* value);
bool ParseSetting(std::string_view text, const Range& range, Extents* value);
template <class T>
bool ParseSetting(std::string_view text, const Range& range,
                  std::optional<T>* value) {
  T parsed{};
  if (!ParseSetting(text, range, &parsed)) return false;
  *value = parsed;
  return true;
}

// "a number from 0 to 1"
std::string Expectation(const int64_t*, const Range& range);
std::string Expectation(const double*, const Range& range);
std::string Expectation(const bool*, const Range& range);
std::string Expectation(const std::string*, const Range& range);
std::string Expectation(const Extents*, const Range& range);
template <class T>
std::string Expectation(const std::optional<T>*, const Range& range) {
  return Expectation(static_cast<const T*>(nullptr), range);
}

std::string SettingText(int64_t value);
std::string SettingText(double value);
std::string SettingText(bool value);
std::string SettingText(const std::string& value);
std::string SettingText(const Extents& value);
template <class T>
std::string SettingText(const std::optional<T>& value) {
  return value ? SettingText(*value) : "";
}

using Choices = std::initializer_list<const char*>;

// Fields that takes values out of settings; a key's last value counts. Every
// struct of options is described to it, then Finish says what is wrong. Of
// `offered` (IteratorOptions) it takes what settings do not have, but nothing
// that is described by Training: what varies samples to learn from, which are
// validated as they are.
class SettingsReader {
 public:
  explicit SettingsReader(const Settings& settings,
                          const Settings& offered = kNone)
      : settings_(settings), offered_(offered) {}

  template <class T>
  void operator()(const char* name, T& value, const char* /*doc*/,
                  const Range& range = {}) {
    Read(name, Find(name, {&offered_, &settings_}), range, &value);
  }
  template <class T>
  void Training(const char* name, T& value, const char* /*doc*/,
                const Range& range = {}) {
    Read(name, Find(name, {&settings_}), range, &value);
  }
  // An enum whose values are numbered as `names`.
  template <class E>
  void Choice(const char* name, E& value, const Choices& names,
              const char* /*doc*/) {
    int number = static_cast<int>(value);
    ReadChoice(name, names, &number);
    value = static_cast<E>(number);
  }

  // Refuses what no Describe asked for, beside what was refused before.
  Status Finish(const std::string& source);

 private:
  // The last value in the last of `lists` that has the name, or null.
  const std::string* Find(const char* name,
                          std::initializer_list<const Settings*> lists);
  template <class T>
  void Read(const char* name, const std::string* text, const Range& range,
            T* value) {
    if (text == nullptr || ParseSetting(*text, range, value)) return;
    Refuse(name, *text, Expectation(static_cast<T*>(nullptr), range));
  }
  void ReadChoice(const char* name, const Choices& names, int* number);
  void Refuse(const char* name, const std::string& text,
              const std::string& expected);

  static const Settings kNone;

  const Settings& settings_;
  const Settings& offered_;
  std::vector<std::string> legal_, errors_;
};

// Fields that prints "  name=default   doc" lines.
class SettingsHelp {
 public:
  template <class T>
  void operator()(const char* name, const T& value, const char* doc,
                  const Range& = {}) {
    Line(name, SettingText(value), doc);
  }
  template <class T>
  void Training(const char* name, const T& value, const char* doc,
                const Range& range = {}) {
    (*this)(name, value, doc, range);
  }
  template <class E>
  void Choice(const char* name, const E& value, const Choices& names,
              const char* doc) {
    Line(name, names.begin()[static_cast<size_t>(value)], Either(names, doc));
  }

  const std::string& text() const { return text_; }

 private:
  static std::string Either(const Choices& names, const char* doc);
  void Line(const std::string& name, const std::string& value,
            const std::string& doc);

  std::string text_;
};

// With their values as defaults.
template <class Options>
std::string Described(Options options) {
  SettingsHelp help;
  options.Describe(help);
  return help.text();
}

template <class Options>
std::string DescribeOptions() {
  return Described(Options());
}

}  // namespace mxc::data
