// SPDX-License-Identifier: Apache-2.0
// Operators that only reorder axes.
#pragma once

#include "ir/ops/op.h"

namespace mxc {

// Axis k of the output is axis order[k] of input 0; `order` is a permutation.
void PermuteTypes(TypeInference& t, const Extents& order);
void PermuteMeaning(Definition& def, const Extents& order);
std::vector<Value> PermuteGradient(GradientBuilder& g, const Extents& order);

}  // namespace mxc
