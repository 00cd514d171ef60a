// SPDX-License-Identifier: Apache-2.0
// Sums of values at positions that data name: the gradients of Embedding, take,
// pick and the like:
//
//   out[v, d] = Σ_p select(position(p, d) = v, value(p, d), 0)
//
// As written, it compares every position with every v. Code that recognises the
// form writes zeros, then adds value(p, d) to out[position(p, d), d], p by p:
// the same numbers in the same order.
#pragma once

#include <optional>
#include <vector>

#include "ir/program/program.h"

namespace mxc {

struct ScatterSum {
  int axis = 0;               // of the output: v
  std::vector<Range> ranges;  // p; bounds are constant
  Expr position;              // i64, neither it nor `value` uses v
  Expr value;
};

// The store in that form, if it is of it and covers an output of `shape`.
std::optional<ScatterSum> MatchScatterSum(const Store& store,
                                          const Shape& shape);

}  // namespace mxc
