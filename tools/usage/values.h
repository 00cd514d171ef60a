// SPDX-License-Identifier: Apache-2.0
// What the value of an option may be, and in plain words what it is not.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mxc {

// Decimal digits and nothing else.
bool IsDigits(std::string_view text);

// "'0' is not a whole number of at least 1"
CLI::Validator AtLeast(int64_t least);
// "'4' is not a whole number from 0 to 3"
CLI::Validator Between(int64_t least, int64_t most);
// "'-1' is not a number of at least 0"
CLI::Validator NotNegative();
// "'0' is not a number above 0"
CLI::Validator Positive();

// "'-1%' is not a number of at least 0": a transform that takes the sign of
// percent away.
CLI::Validator Percent();

// "'1' is not a number above 0 and below 1"
CLI::Validator Fraction();
// "'1' is not a number from 0 to less than 1"
CLI::Validator ShareBelowOne();
// "'0' is not a number above 0 and at most 1"
CLI::Validator ShareAboveZero();

// "'1XB' is no size; expected bytes, or a number of KiB, MiB, GiB": a transform
// of the text to bytes.
CLI::Validator SizeInBytes();

// "'pdp11' is none of native, x86-64-v3; nearest: …"
CLI::Validator OneOf(std::vector<std::string> names);

// The same for the option's transform: a name becomes what it stands for.
template <class T>
CLI::Validator Named(const std::map<std::string, T>& meanings) {
  std::vector<std::string> names;
  for (const auto& [name, meaning] : meanings) names.push_back(name);
  const CLI::Validator known = OneOf(names);
  return CLI::Validator(
      [known, meanings](std::string& text) {
        std::string name = CLI::detail::to_lower(text);
        if (!meanings.contains(name)) return known(text);
        text = CLI::detail::to_string(
            static_cast<int64_t>(meanings.at(std::move(name))));
        return std::string();
      },
      "");
}

}  // namespace mxc
