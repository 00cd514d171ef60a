// SPDX-License-Identifier: Apache-2.0
// Moved downwards by whole pixels.
#include "runtime/data/picture/operations/operation.h"
#include "runtime/data/picture/warp.h"

namespace mxc::data {

void ApplyTranslateY(double strength, uint8_t fill, Picture* picture) {
  const auto by =
      static_cast<int>(kMostTranslation * strength * picture->height);
  *picture = Shifted(*picture, 0, by, fill);
}

}  // namespace mxc::data
