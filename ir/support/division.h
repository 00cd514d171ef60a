// SPDX-License-Identifier: Apache-2.0
// Division of integers by a positive one, rounded as said.
#pragma once

#include <cstdint>

namespace mxc {

constexpr int64_t DivideUp(int64_t a, int64_t b) {
  return a / b + (a % b > 0 ? 1 : 0);
}
constexpr int64_t DivideDown(int64_t a, int64_t b) {
  return a / b - (a % b < 0 ? 1 : 0);
}
// The smallest multiple of b that is not less than a.
constexpr int64_t RoundUp(int64_t a, int64_t b) { return DivideUp(a, b) * b; }

}  // namespace mxc
