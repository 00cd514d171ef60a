// SPDX-License-Identifier: Apache-2.0
// Tensors under another shape: the same elements in row-major order.
#pragma once

#include <set>
#include <vector>

#include "ir/program/program.h"
#include "ir/program/steps/map.h"

namespace mxc {

// The index in a tensor of shape `to` of what has index i0, i1, … in one of
// shape `from`, simplified.
std::vector<Expr> ReshapedIndex(const Shape& from, const Shape& to);

// A store of all of a tensor of shape `from`, over the indices of shape `to`.
Store ReshapedStore(const Store& store, const Shape& from, const Shape& to);

// The index variables that the value divides, in quotients and rests.
std::set<int> DividedVariables(const Expr& value);

// A step that shows `from` as `to`, an internal buffer of another shape. It
// comes from where `of` does.
Step ViewStep(const Program& program, int from, int to, const Step& of);

}  // namespace mxc
