// SPDX-License-Identifier: Apache-2.0
// Every row is shifted against the one above, the upper edge stays.
#include "runtime/data/picture/operations/operation.h"
#include "runtime/data/picture/warp.h"

namespace mxc::data {

void ApplyShearX(double strength, uint8_t fill, Picture* picture) {
  const Matrix from{.xy = kMostShear * strength};
  *picture = Mapped(*picture, from, kCorner, fill);
}

}  // namespace mxc::data
