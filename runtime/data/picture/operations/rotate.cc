// SPDX-License-Identifier: Apache-2.0
// Turned about the centre against the clock, by 30 degrees at most.
#include <cmath>
#include <numbers>

#include "runtime/data/picture/operations/operation.h"
#include "runtime/data/picture/warp.h"

namespace mxc::data {

void ApplyRotate(double strength, uint8_t fill, Picture* picture) {
  const double angle = strength * 30 * std::numbers::pi / 180;
  const double a = std::cos(angle), b = std::sin(angle);
  *picture = Mapped(*picture, {a, -b, b, a}, CenterOf(*picture), fill);
}

}  // namespace mxc::data
