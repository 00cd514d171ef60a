// SPDX-License-Identifier: Apache-2.0
// Looks for what another thread does before it sleeps.
#pragma once

#include <sched.h>

#include <cstdint>

#include "runtime/base/clock.h"

namespace mxc::runtime {

inline void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

// Returns whether `is_over()` became true before the time is over after which a
// thread should sleep, which is about the gap between two runs of a loop. After some
// microseconds others have the core between two looks, since the one that it waits
// for may be queued there.
template <class Condition>
bool SpinUntil(Condition is_over) {
  constexpr int64_t kYieldAfter = 3'000;   // ns
  constexpr int64_t kSleepAfter = 30'000;  // ns
  constexpr int kPausesPerLookAtTheClock = 32;
  int64_t begin = 0;
  for (;;) {
    for (int i = 0; i < kPausesPerLookAtTheClock; ++i) {
      if (is_over()) return true;
      Pause();
    }
    const int64_t now = Nanoseconds();
    if (begin == 0) begin = now;
    if (now - begin >= kSleepAfter) return false;
    if (now - begin >= kYieldAfter) sched_yield();
  }
}

}  // namespace mxc::runtime
