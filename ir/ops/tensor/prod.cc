// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/reduction.h"

namespace mxc {

MXC_OP(Prod) {
  return ReductionOperator("prod", "the product over axes", ReduceOp::kProduct,
                           [](Expr x) { return x; })
      .Gradient([](const ReductionAttrs& attrs,
                   GradientBuilder& g) -> std::vector<Value> {
        return {ProdGradient(attrs, g, g.In(0))};
      });
}

}  // namespace mxc
