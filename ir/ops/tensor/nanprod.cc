// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/reduction.h"

namespace mxc {

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

}  // namespace mxc
