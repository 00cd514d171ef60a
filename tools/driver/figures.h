// SPDX-License-Identifier: Apache-2.0
// Figures as people read them, and the clock they come from.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace mxc {

std::string FormatBytes(int64_t bytes);     // "712 B", "97.5 MiB"
std::string FormatSeconds(double seconds);  // "31 ms", "2.9 s"
// "1 error", "2 errors".
std::string Count(int64_t count, std::string_view noun);

class Stopwatch {
 public:
  double seconds() const {
    const std::chrono::duration<double> passed = Clock::now() - start_;
    return passed.count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

}  // namespace mxc
