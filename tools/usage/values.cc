// SPDX-License-Identifier: Apache-2.0
#include "tools/usage/values.h"

#include <cmath>

#include "runtime/base/nearest.h"

namespace mxc {
namespace {

constexpr size_t kMostDigits = 18;  // of what an int64_t surely holds

// Returns whether it is a number of more digits than that, which the library
// would take for the largest one.
bool IsLong(const std::string& text) {
  return text.size() > kMostDigits && IsDigits(text);
}

bool ReadWhole(const std::string& text, int64_t& value) {
  return !IsLong(text) && CLI::detail::lexical_cast(text, value);
}

// A check that leaves the text as it is, and says nothing in --help.
template <class Test>
CLI::Validator Check(Test test, std::string what) {
  return CLI::Validator(
      [test, what = std::move(what)](std::string& text) {
        if (test(text)) return std::string();
        return "'" + text + "' is " +
               (IsLong(text) ? "too large" : "not " + what);
      },
      "");
}

bool ReadNumber(const std::string& text, double& value) {
  return CLI::detail::lexical_cast(text, value) && std::isfinite(value);
}

}  // namespace

bool IsDigits(std::string_view text) {
  return !text.empty() &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

CLI::Validator AtLeast(int64_t least) {
  return Check(
      [least](const std::string& text) {
        int64_t value = 0;
        return ReadWhole(text, value) && value >= least;
      },
      "a whole number of at least " + std::to_string(least));
}

CLI::Validator Between(int64_t least, int64_t most) {
  return Check(
      [least, most](const std::string& text) {
        int64_t value = 0;
        return ReadWhole(text, value) && value >= least && value <= most;
      },
      "a whole number from " + std::to_string(least) + " to " +
          std::to_string(most));
}

CLI::Validator NotNegative() {
  return Check(
      [](const std::string& text) {
        double value = 0;
        return ReadNumber(text, value) && value >= 0;
      },
      "a number of at least 0");
}

CLI::Validator Fraction() {
  return Check(
      [](const std::string& text) {
        double value = 0;
        return ReadNumber(text, value) && value > 0 && value < 1;
      },
      "a number above 0 and below 1");
}

CLI::Validator ShareBelowOne() {
  return Check(
      [](const std::string& text) {
        double value = 0;
        return ReadNumber(text, value) && value >= 0 && value < 1;
      },
      "a number from 0 to less than 1");
}

CLI::Validator ShareAboveZero() {
  return Check(
      [](const std::string& text) {
        double value = 0;
        return ReadNumber(text, value) && value > 0 && value <= 1;
      },
      "a number above 0 and at most 1");
}

CLI::Validator Positive() {
  return Check(
      [](const std::string& text) {
        double value = 0;
        return ReadNumber(text, value) && value > 0;
      },
      "a number above 0");
}

CLI::Validator SizeInBytes() {
  return CLI::Validator(
      [](std::string& text) {
        const CLI::AsSizeValue size(/*kb_is_1000=*/false);
        std::string bytes = text;
        try {
          if (size(bytes).empty()) {
            text = bytes;
            return std::string();
          }
        } catch (const CLI::ValidationError&) {
        }
        return "'" + text +
               "' is no size; expected bytes, or a number of KiB, MiB, GiB";
      },
      "");
}

CLI::Validator Percent() {
  const CLI::Validator number = NotNegative();
  return CLI::Validator(
      [number](std::string& text) {
        std::string digits = text;
        if (digits.ends_with('%')) digits.pop_back();
        if (!number(digits).empty()) return number(text);
        text = digits;
        return std::string();
      },
      "");
}

CLI::Validator OneOf(std::vector<std::string> names) {
  std::string listed = "{";
  for (const std::string& name : names) {
    listed += (listed.size() > 1 ? "," : "") + name;
  }
  listed += "}";
  return CLI::Validator(
      [names = std::move(names)](std::string& text) {
        std::string list;
        for (const std::string& name : names) {
          if (name == text) return std::string();
          list += (list.empty() ? "" : ", ") + name;
        }
        const std::vector<std::string_view> known(names.begin(), names.end());
        return "'" + text + "' is none of " + list +
               runtime::NearestNote(runtime::Nearest(text, known));
      },
      listed);
}

}  // namespace mxc
