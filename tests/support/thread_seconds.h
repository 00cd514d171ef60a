// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <time.h>

namespace mxc::test {

// The processor's seconds that this thread has had: bounds on these hold on a
// machine that does other things, too.
inline double ThreadSeconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) +
         1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace mxc::test
