// SPDX-License-Identifier: Apache-2.0
// Every column is shifted against the one to its left, the left edge stays.
#include "runtime/data/picture/operations/operation.h"
#include "runtime/data/picture/warp.h"

namespace mxc::data {

void ApplyShearY(double strength, uint8_t fill, Picture* picture) {
  const Matrix from{.yx = kMostShear * strength};
  *picture = Mapped(*picture, from, kCorner, fill);
}

}  // namespace mxc::data
