// SPDX-License-Identifier: Apache-2.0
// Sets the floating-point environment that kernels expect, for a scope of one
// thread.
#pragma once

#include <cfenv>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace mxc::runtime {

// While it lives, the thread computes as IEEE 754 says (to nearest, with
// subnormal numbers, no traps), whatever its program has set, so that an answer
// does not depend on which thread computed it.
class FloatMode {
 public:
#if defined(__x86_64__)
  FloatMode() : before_(_mm_getcsr()) { _mm_setcsr(kDefault); }
  ~FloatMode() { _mm_setcsr(before_); }

 private:
  static constexpr unsigned kDefault = 0x1f80;
  unsigned before_;
#else
  FloatMode() {
    fegetenv(&before_);
    fesetenv(FE_DFL_ENV);
  }
  ~FloatMode() { fesetenv(&before_); }

 private:
  fenv_t before_;
#endif

 public:
  FloatMode(const FloatMode&) = delete;
  FloatMode& operator=(const FloatMode&) = delete;
};

}  // namespace mxc::runtime
