// SPDX-License-Identifier: Apache-2.0
// Reductions over some axes, or over all. Without keepdims a tensor reduced
// over all its axes has shape (1), never ().
#pragma once

#include <functional>
#include <string>

#include "ir/ops/op.h"

namespace mxc {

struct ReductionAttrs {
  std::optional<Extents> axis = {};
  bool keepdims = false;
  bool exclude = false;

  void Describe(Fields& f) {
    f("axis", axis).Doc("the axes to reduce; None and (): all");
    f("keepdims", keepdims).Doc("reduced axes stay, with extent 1");
    f("exclude", exclude).Doc("reduce the axes that are not named");
  }
};
MXC_ATTRS(Sum, ReductionAttrs);
MXC_ATTRS(SquareSum, ReductionAttrs);
MXC_ATTRS(Max, ReductionAttrs);
MXC_ATTRS(Prod, ReductionAttrs);
MXC_ATTRS(Mean, ReductionAttrs);

// The axes to reduce, ascending. The attributes must be legal for the rank.
Extents ReducedAxes(const ReductionAttrs& attrs, int rank);
// The shape of the output.
//   C1  axes are in range and distinct
void ReductionShape(const ReductionAttrs& attrs, TypeInference& t,
                    int output = 0);

// The reduction of input 0 as a function of the index of an output that
// ReductionShape gave its shape. Halves are combined in f32; f32 is summed in
// f64, which is as exact as MXNet's compensated sums.
Expr ReduceInput(const ReductionAttrs& attrs, const Definition& def,
                 ReduceOp op, const std::function<Expr(Expr element)>& each);
// The number of elements that become one.
int64_t ReducedCount(const ReductionAttrs& attrs, const Shape& in);
// For indices of the output: those of input 0 at position `r` of the reduced
// axes.
std::vector<Expr> ReducedIndex(const ReductionAttrs& attrs, int rank,
                               const std::vector<Expr>& r);

// Gradients of such reductions, in the element type of the input.
//   sum       that of the output, repeated
//   product   head · the product of the other elements, of x, whose zeros are
//             counted: MXNet divides by them and has NaN
//   extremum  to all elements that are equal to it
std::vector<Value> SumGradient(const ReductionAttrs& attrs, GradientBuilder& g);
std::vector<Value> MeanGradient(const ReductionAttrs& attrs,
                                GradientBuilder& g);
Value ProdGradient(const ReductionAttrs& attrs, GradientBuilder& g, Value x);
std::vector<Value> ExtremumGradient(const ReductionAttrs& attrs,
                                    GradientBuilder& g);
// An output, or its gradient, in the element type of the input, with the
// reduced axes kept: what broadcasts along the input.
Value KeepReduced(const ReductionAttrs& attrs, GradientBuilder& g, Value value);

// A mean whose input counts `count` entries of axes[0] (Operator::counted): their
// sum, divided by how many elements they have.
CountedForm MeanOfCounted(const ReductionAttrs& attrs, const Node& node,
                          std::span<const int> axes, Value count,
                          GraphBuilder& b);

// `each` maps an element to what is combined with `op`.
Op<ReductionAttrs> ReductionOperator(std::string name, std::string doc,
                                     ReduceOp op, Expr (*each)(Expr x));

}  // namespace mxc
