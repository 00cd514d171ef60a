// SPDX-License-Identifier: Apache-2.0
// Positions that tensors hold: indices of any element type, made legal.
#pragma once

#include "ir/ops/op.h"

namespace mxc {

// What becomes of an index outside 0 … extent - 1.
enum class IndexMode : int { kRaise, kWrap, kClip };

// `value`, an element of an index tensor, as a legal index. Fractions are cut.
// kRaise clips too: a kernel has no error to report, and reads no other memory.
Expr LegalIndex(const Expr& value, int64_t extent, IndexMode mode);

// The gradient of reading data, of `shape`, at positions along an axis: the
// values, added up in zeros at their positions (_scatter_add). `positions` has
// the shape of the values, or names the places of the axis for all alike, in
// one axis.
Value ScatterAdd(GradientBuilder& g, Value values, Value positions,
                 const Shape& shape, int axis, IndexMode mode);

}  // namespace mxc
