// SPDX-License-Identifier: Apache-2.0
// Sums of values that are added up at positions, the gradients of Embedding,
// take, pick and their like:
//
//   out[v, d] = Σ_p select(position(p, d) = v, value(p, d), 0)
//
// Read as it stands, every position is looked at for every v. Those who meet
// the form may do better: zeros, then out[position(p, d), d] += value(p, d) for
// all p in order, which adds the same numbers in the same order.
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
