// SPDX-License-Identifier: Apache-2.0
// Sums over whole parameters; spans of one call hold equally many elements.
#pragma once

#include <span>

namespace mxc::train {

void AddTo(std::span<float> sums, std::span<const float> values);
void Multiply(std::span<float> values, float factor);
// Each becomes so much nearer to its value: 0 not at all, 1 equal.
void MoveTowards(std::span<float> averages, std::span<const float> values,
                 float share);

}  // namespace mxc::train
