// SPDX-License-Identifier: Apache-2.0
// Operators that lay their inputs one after the other along an axis.
#pragma once

#include "ir/ops/op.h"

namespace mxc {

// Types of joining all inputs along `axis`, which may count from the end.
//   C1  axis is in range
//   C2  the extents of every other axis agree
//   C3  the extents along axis add up to that of the output
void JoinTypes(TypeInference& t, int64_t axis);
// One box for each input.
void JoinMeaning(Definition& def, int axis);
// Each input's part of the head.
std::vector<Value> JoinGradient(GradientBuilder& g, int64_t axis);
// The gradient of cutting input 0, from `begin` of an axis on, into all the
// outputs, which lack the axis if `squeezed`: theirs, joined.
std::vector<Value> CutGradient(GradientBuilder& g, int axis, bool squeezed,
                               int64_t begin = 0);

}  // namespace mxc
