// SPDX-License-Identifier: Apache-2.0
// Values from a threshold on are inverted: none, at most all of them.
#include "runtime/data/picture/operations/operation.h"

namespace mxc::data {

void ApplySolarize(double strength, uint8_t, Picture* picture) {
  const double threshold = 255 * (1 - strength);
  for (uint8_t& value : picture->pixels) {
    if (value >= threshold) value = static_cast<uint8_t>(255 - value);
  }
}

}  // namespace mxc::data
