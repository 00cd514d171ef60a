// SPDX-License-Identifier: Apache-2.0
// NumPy's reductions: a tensor reduced over all its axes has shape ().
#pragma once

#include "ir/ops/op.h"
#include "ir/ops/tensor/reduction/reduction.h"

namespace mxc {

struct NpReductionAttrs {
  std::optional<Extents> axis = {};
  std::optional<DType> dtype = {};
  bool keepdims = false;
  std::optional<double> initial = {};

  void Describe(Fields& f) {
    f("axis", axis).Doc("the axes to reduce; None: all");
    f("dtype", dtype).Doc("element type of the output; None: as said above");
    f("keepdims", keepdims).Doc("reduced axes stay, with extent 1");
    f("initial", initial).Doc("not supported but as None");
  }

  ReductionAttrs reduction() const { return {axis, keepdims, false}; }
};
MXC_ATTRS(NpMax, NpReductionAttrs);
MXC_ATTRS(NpMin, NpReductionAttrs);
MXC_ATTRS(NpSum, NpReductionAttrs);
MXC_ATTRS(NpProd, NpReductionAttrs);
MXC_ATTRS(NpiMean, NpReductionAttrs);

// numpy.any and numpy.all.
struct NpTruthAttrs {
  std::optional<Extents> axis;
  bool keepdims = false;

  void Describe(Fields& f) {
    f("axis", axis).Doc("the axes to reduce; None: all");
    f("keepdims", keepdims).Doc("reduced axes stay, with extent 1");
  }

  ReductionAttrs reduction() const { return {axis, keepdims, false}; }
};

// C1  axes are in range and distinct (reduction.h); () is not supported
// C2  initial is None
std::optional<std::string> CheckNpReduction(const NpReductionAttrs& attrs);
// The type of data where `dtype` says nothing, as MXNet has it, …
void NpReductionTypes(const NpReductionAttrs& attrs, TypeInference& t);
// … but i64 of truth values (sum, prod), …
void NpSumTypes(const NpReductionAttrs& attrs, TypeInference& t);
// … as which they are counted.
Expr Counted(const Expr& x);

void NpTruthTypes(const NpTruthAttrs& attrs, TypeInference& t);
// The shape of such an output.
void NpReductionShape(const ReductionAttrs& attrs, TypeInference& t);

}  // namespace mxc
