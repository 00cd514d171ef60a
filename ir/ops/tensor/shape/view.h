// SPDX-License-Identifier: Apache-2.0
// Operators whose output is input 0 read in row-major order under another
// shape: nothing is computed, and the memory plan lets both share their bytes.
#pragma once

#include "ir/ops/op.h"

namespace mxc {

// output[i] = input 0 at the same row-major position.
void ViewMeaning(Definition& def);

// The gradient: that of the output under the shape of input 0.
inline constexpr auto kViewGradient = [](const auto&, GradientBuilder& g) {
  std::vector<Value> gradients = g.None();
  gradients[0] = g.Reshape(g.Head(), g.In(0).shape());
  return gradients;
};

// Input 0 and output 0 hold equally many elements, where that can be said yet.
bool SameElementCount(const Shape& a, const Shape& b);

}  // namespace mxc
