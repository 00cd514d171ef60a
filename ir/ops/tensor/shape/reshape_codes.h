// SPDX-License-Identifier: Apache-2.0
// The codes in the target of a Reshape.
#pragma once

#include <string>

#include "ir/graph/operator.h"

namespace mxc {

// What an entry of a target means besides an extent above 0. The values are
// those of Reshape; _npx_reshape numbers them otherwise.
enum ReshapeCode : int64_t {
  kCopyExtent = 0,
  kInferExtent = -1,
  kCopyRest = -2,
  kMergeTwo = -3,
  kSplitInTwo = -4,  // the two entries that follow are the factors
  kDropUnit = -5,    // skip an extent of 1 of the input
};

// The shape that `target` makes of `in`, walking both from left to right, or
// from right to left if `reverse`. Extents that do not follow yet are unknown.
//   label+1  each entry is a code or an extent, and finds the input's axes that
//            it needs; at most one is inferred
//   label+2  a split's factors multiply to the extent
//   label+3  an extent in place of -1 keeps the number of elements
// That the elements are as many as before is what every view must hold
// (InferTypes).
// Reports a violation as C<first_label>, … and returns an unknown shape.
Shape ReshapeByCodes(TypeInference& t, Shape in, Extents target, bool reverse,
                     int first_label);

// From an output known in full, the one extent of `in` that is still unknown.
Shape SolveInput(const Shape& in, const Shape& out);

}  // namespace mxc
