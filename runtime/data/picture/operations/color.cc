// SPDX-License-Identifier: Apache-2.0
// Away from the grey of each pixel, or towards it.
#include "runtime/data/picture/operations/operation.h"
#include "runtime/data/picture/values.h"

namespace mxc::data {

void ApplyColor(double strength, uint8_t, Picture* picture) {
  Saturate(1 + kMostBlend * strength, picture);
}

}  // namespace mxc::data
