// SPDX-License-Identifier: Apache-2.0
// Away from the mean grey, or towards it.
#include "runtime/data/picture/operations/operation.h"
#include "runtime/data/picture/values.h"

namespace mxc::data {

void ApplyContrast(double strength, uint8_t, Picture* picture) {
  Contrast(1 + kMostBlend * strength, picture);
}

}  // namespace mxc::data
