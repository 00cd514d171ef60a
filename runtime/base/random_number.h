// SPDX-License-Identifier: Apache-2.0
// A number that nobody has drawn before, for names and identities; no secret.
#pragma once

#include <sys/random.h>
#include <unistd.h>

#include <cstdint>

#include "runtime/base/clock.h"

namespace mxc::runtime {

// The system's; where it has none yet, one of the time and the process.
inline uint64_t RandomNumber() {
  uint64_t random = 0;
  if (getrandom(&random, sizeof random, GRND_NONBLOCK) == sizeof random) {
    return random;
  }
  return static_cast<uint64_t>(Nanoseconds()) ^ static_cast<uint64_t>(getpid())
                                                    << 48;
}

}  // namespace mxc::runtime
