// SPDX-License-Identifier: Apache-2.0
// Values of every channel as often as any others, as near as that is possible.
#include <algorithm>
#include <numeric>

#include "runtime/data/picture/operations/operation.h"

namespace mxc::data {

namespace {

ValueTable Equalized(const ValueCounts& counts) {
  int64_t all = 0, last = 0;
  for (const int64_t count : counts) {
    all += count;
    if (count > 0) last = count;
  }
  const int64_t step = (all - last) / 255;
  ValueTable table;
  std::iota(table.begin(), table.end(), uint8_t{0});
  if (step == 0) return table;
  int64_t below = step / 2;
  for (size_t value = 0; value < table.size(); ++value) {
    table[value] = static_cast<uint8_t>(std::min<int64_t>(below / step, 255));
    below += counts[value];
  }
  return table;
}

}  // namespace

void ApplyEqualize(double, uint8_t, Picture* picture) {
  Replace(Equalized, picture);
}

}  // namespace mxc::data
