// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/reduction.h"

namespace mxc {

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

}  // namespace mxc
