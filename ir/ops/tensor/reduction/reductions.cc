// SPDX-License-Identifier: Apache-2.0
// Sums, products and extrema over axes: a row for each. The mean and the norm,
// which have rules of their own, are mean.cc and norm.cc.
#include "ir/ops/tensor/reduction/reduction.h"

namespace mxc {

MXC_OP(Sum) {
  return ReductionOperator("sum", "the sum over axes", ReduceOp::kSum,
                           [](Expr x) { return x; })
      .Alias({"sum_axis"})
      .Gradient(SumGradient);
}

MXC_OP(Nansum) {
  return ReductionOperator(
             "nansum", "the sum over axes; NaN counts as 0", ReduceOp::kSum,
             [](Expr x) {
               return IsFloat(x->dtype)
                          ? Select(Unary(UnaryOp::kIsNan, x), Lit(0, x), x)
                          : x;
             })
      .Gradient([](const ReductionAttrs& attrs,
                   GradientBuilder& g) -> std::vector<Value> {
        // NaN differs from itself.
        const Value is_number = g.Op<op::ElemwiseEqual>({g.In(0), g.In(0)});
        return {g.Mul(is_number, KeepReduced(attrs, g, g.Head()))};
      });
}

MXC_OP(SquareSum) {
  return ReductionOperator("_square_sum", "the sum of the squares over axes",
                           ReduceOp::kSum, [](Expr x) { return x * x; })
      .Gradient([](const ReductionAttrs& attrs,
                   GradientBuilder& g) -> std::vector<Value> {
        return {g.Mul(g.Mul(g.In(0), 2), KeepReduced(attrs, g, g.Head()))};
      });
}

MXC_OP(Prod) {
  return ReductionOperator("prod", "the product over axes", ReduceOp::kProduct,
                           [](Expr x) { return x; })
      .Gradient([](const ReductionAttrs& attrs,
                   GradientBuilder& g) -> std::vector<Value> {
        return {ProdGradient(attrs, g, g.In(0))};
      });
}

MXC_OP(Nanprod) {
  return ReductionOperator("nanprod", "the product over axes; NaN counts as 1",
                           ReduceOp::kProduct,
                           [](Expr x) {
                             return IsFloat(x->dtype)
                                        ? Select(Unary(UnaryOp::kIsNan, x),
                                                 Lit(1, x), x)
                                        : x;
                           })
      .Gradient([](const ReductionAttrs& attrs,
                   GradientBuilder& g) -> std::vector<Value> {
        // NaN differs from itself.
        const Value x = g.In(0);
        const Value is_number = g.Op<op::ElemwiseEqual>({x, x});
        const Value numbers = g.Where(is_number, x, g.Ones(x.type()));
        return {g.Where(is_number, ProdGradient(attrs, g, numbers),
                        g.Zeros(x.type()))};
      });
}

MXC_OP(Max) {
  return ReductionOperator("max", "the greatest element over axes",
                           ReduceOp::kMax, [](Expr x) { return x; })
      .Alias({"max_axis"})
      .Gradient(ExtremumGradient);
}

MXC_OP(Min) {
  return ReductionOperator("min", "the least element over axes", ReduceOp::kMin,
                           [](Expr x) { return x; })
      .Alias({"min_axis"})
      .Gradient(ExtremumGradient);
}

}  // namespace mxc
