// SPDX-License-Identifier: Apache-2.0
// Numbers as text for programs that print, which do so in the C locale.
#pragma once

#include <concepts>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>

namespace mxc::runtime {

// With as few digits as tell a finite value from all others of its type.
template <std::floating_point T>
std::string ShortestText(T value) {
  using Limits = std::numeric_limits<T>;
  char text[64];
  for (int digits = Limits::digits10; digits <= Limits::max_digits10;
       ++digits) {
    std::snprintf(text, sizeof text, "%.*g", digits,
                  static_cast<double>(value));
    T read = 0;
    if constexpr (std::same_as<T, float>) {
      read = std::strtof(text, nullptr);
    } else {
      read = static_cast<T>(std::strtod(text, nullptr));
    }
    if (read == value) break;
  }
  return text;
}

// What was measured, without digits that say nothing: the six that count.
inline double Measured(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return std::strtod(text, nullptr);
}

}  // namespace mxc::runtime
