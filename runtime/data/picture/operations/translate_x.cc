// SPDX-License-Identifier: Apache-2.0
// Moved to the right by whole pixels.
#include "runtime/data/picture/operations/operation.h"
#include "runtime/data/picture/warp.h"

namespace mxc::data {

void ApplyTranslateX(double strength, uint8_t fill, Picture* picture) {
  const auto by =
      static_cast<int>(kMostTranslation * strength * picture->width);
  *picture = Shifted(*picture, by, 0, fill);
}

}  // namespace mxc::data
