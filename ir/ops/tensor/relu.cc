// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/unary.h"

namespace mxc {

MXC_OP(Relu) {
  return UnaryOperator(
             "relu", "x where it is positive, else 0",
             [](Expr x) { return Max(x, Constant(0, x->dtype)); },
             Arithmetic::kExact)
      .Alias({"_npx_relu"})
      .SlopeOfOutput([](const NoAttrs&, Expr y) {
        return Select(y > Lit(0, y), Lit(1, y), Lit(0, y));
      });
}

}  // namespace mxc
