// SPDX-License-Identifier: Apache-2.0
// numpy.var and numpy.std.
#pragma once

#include "ir/ops/numpy/reduction/np_reduction.h"

namespace mxc {

struct SpreadAttrs {
  std::optional<Extents> axis;
  std::optional<DType> dtype;
  int64_t ddof = 0;
  bool keepdims = false;

  void Describe(Fields& f) {
    f("axis", axis).Doc("the axes to reduce; None: all");
    f("dtype", dtype).Doc("element type of the output; None: of a");
    f("ddof", ddof).Doc("subtracted from the number of elements");
    f("keepdims", keepdims).Doc("reduced axes stay, with extent 1");
  }

  ReductionAttrs reduction() const { return {axis, keepdims, false}; }
};

// C1  axes are in range and distinct (reduction.h)
// C2  data and the output are floats (of integers MXNet gives integers)
void SpreadTypes(const SpreadAttrs& attrs, TypeInference& t);
// The mean of the squared distances from the mean, whose divisor is ddof less.
Value Variance(const SpreadAttrs& attrs, const Node& node, GraphBuilder& b);

}  // namespace mxc
