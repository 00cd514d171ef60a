// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/picture/operations/operation.h"

namespace mxc::data {

void Replace(ValueTable (*make_table)(const ValueCounts&), Picture* picture) {
  const auto channels = static_cast<size_t>(picture->channels);
  std::vector<uint8_t>& pixels = picture->pixels;
  for (size_t c = 0; c < channels; ++c) {
    ValueCounts counts{};
    for (size_t i = c; i < pixels.size(); i += channels) ++counts[pixels[i]];
    const ValueTable table = make_table(counts);
    for (size_t i = c; i < pixels.size(); i += channels) {
      pixels[i] = table[pixels[i]];
    }
  }
}

}  // namespace mxc::data
