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
        const Value is_number = g.Op("_equal", {g.In(0), g.In(0)});
        return {g.Where(is_number, ProdGradient(attrs, g)[0],
                        g.Zeros(g.In(0).type()))};
      });
}

}  // namespace mxc
