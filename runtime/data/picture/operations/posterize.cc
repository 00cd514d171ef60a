// SPDX-License-Identifier: Apache-2.0
// The upper bits of every value alone: 8 to 4 of them.
#include <cmath>

#include "runtime/data/picture/operations/operation.h"

namespace mxc::data {

void ApplyPosterize(double strength, uint8_t, Picture* picture) {
  const auto dropped = static_cast<int>(std::lrint(4 * strength));
  for (uint8_t& value : picture->pixels) {
    value = static_cast<uint8_t>(value >> dropped << dropped);
  }
}

}  // namespace mxc::data
