// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/float_sums.h"

#include <cstddef>

namespace mxc::train {

void AddTo(std::span<float> sums, std::span<const float> values) {
  for (size_t i = 0; i < values.size(); ++i) sums[i] += values[i];
}

void Multiply(std::span<float> values, float factor) {
  for (float& value : values) value *= factor;
}

void MoveTowards(std::span<float> averages, std::span<const float> values,
                 float share) {
  for (size_t i = 0; i < values.size(); ++i) {
    averages[i] += share * (values[i] - averages[i]);
  }
}

}  // namespace mxc::train
