// SPDX-License-Identifier: Apache-2.0
// Reads the monotonic clock.
#pragma once

#include <time.h>

#include <cstdint>

namespace mxc::runtime {

// Nanoseconds on a clock that never goes back.
inline int64_t Nanoseconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{1'000'000'000} * now.tv_sec + now.tv_nsec;
}

// By division: the number nearest to what the clock knows, whose text has no
// more digits than that.
inline double SecondsOf(int64_t nanoseconds) {
  return static_cast<double>(nanoseconds) / 1e9;
}

}  // namespace mxc::runtime
