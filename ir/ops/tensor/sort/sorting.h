// SPDX-License-Identifier: Apache-2.0
// Sorting along an axis, composed of operators of our own:
//
//   order  = where the first, the second, … element is
//   sorted = _take_along(data, order)
//
// The order of n elements comes from _radix_order, in O(n); of its first few
// from _top_order; of rows of some dozen elements, of which many are compared
// at once, from
//
//   rank   = _sort_rank(data)      how many elements come before each one
//   order  = _sort_order(rank)
//
// Equal elements keep their order, in both directions; NaN counts as greater
// than every number.
#pragma once

#include <optional>

#include "ir/ops/op.h"

namespace mxc {

struct SortRequest {
  std::optional<int64_t> axis;  // none: the flattened data
  bool is_ascend = true;
  int64_t count = 0;  // the first `count` of the order; 0: all
};

// The axis counted from the front, and how many elements are asked for.
//   C1  axis is in range
//   C2  at most as many elements as the axis has
// nullopt where that does not follow yet, or is reported.
struct SortedAxis {
  int axis = 0;
  Shape source;  // of data, flattened if need be
  Shape sorted;  // of the elements asked for
};
std::optional<SortedAxis> RequireSortedAxis(const SortRequest& request,
                                            TypeInference& t);

// A node's input 0 in sorted order.
struct SortParts {
  Value data, order;
  Value rank;  // if the order comes from it
  int axis = 0;
};
SortParts SortInput(const SortRequest& request, const Node& node,
                    GraphBuilder& b);
Value SortedValues(const SortParts& parts, GraphBuilder& b);
// 1 where data has one of the elements of the order, else 0.
Value SortMask(const SortParts& parts, DType dtype, GraphBuilder& b);
// The gradient of sorted values, given theirs.
Value SortGradient(const SortRequest& request, GradientBuilder& g, Value head);
// The order in the element type `dtype`.
Value SortedIndices(const SortParts& parts, DType dtype, GraphBuilder& b);

}  // namespace mxc
