// SPDX-License-Identifier: Apache-2.0
// Away from black, or towards it.
#include "runtime/data/picture/operations/operation.h"
#include "runtime/data/picture/values.h"

namespace mxc::data {

void ApplyBrightness(double strength, uint8_t, Picture* picture) {
  Brighten(1 + kMostBlend * strength, picture);
}

}  // namespace mxc::data
