// SPDX-License-Identifier: Apache-2.0
// Tensors under another shape: the same elements in row-major order.
#pragma once

#include <vector>

#include "ir/program/program.h"

namespace mxc {

// i0, i1, …
std::vector<Expr> IdentityIndex(int rank);

// The index in a tensor of shape `to` of what has index i0, i1, … in one of
// shape `from`, simplified.
std::vector<Expr> ReshapedIndex(const Shape& from, const Shape& to);

// A view of `from`, an internal buffer of another shape, as `to`. It comes from
// where `of` does.
Step ViewStep(const Program& program, int from, int to, const Step& of);

}  // namespace mxc
