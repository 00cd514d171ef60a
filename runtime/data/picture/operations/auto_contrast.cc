// SPDX-License-Identifier: Apache-2.0
// The values of every channel are spread over 0 to 255.
#include <algorithm>

#include "runtime/data/picture/operations/operation.h"
#include "runtime/data/picture/values.h"

namespace mxc::data {

namespace {

ValueTable SpreadOut(const ValueCounts& counts) {
  const auto occurs = [](int64_t count) { return count > 0; };
  const auto least = std::ranges::find_if(counts, occurs) - counts.begin();
  const auto most =
      255 -
      (std::find_if(counts.rbegin(), counts.rend(), occurs) - counts.rbegin());
  const auto range = static_cast<double>(most - least);
  ValueTable table;
  for (int value = 0; value < 256; ++value) {
    table[static_cast<size_t>(value)] =
        range > 0 ? ToByte(255 * static_cast<double>(value - least) / range)
                  : static_cast<uint8_t>(value);
  }
  return table;
}

}  // namespace

void ApplyAutoContrast(double, uint8_t, Picture* picture) {
  Replace(SpreadOut, picture);
}

}  // namespace mxc::data
