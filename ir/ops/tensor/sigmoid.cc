// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/unary.h"

namespace mxc {

MXC_OP(Sigmoid) {
  return UnaryOperator("sigmoid", "1 / (1 + e to the power -x)",
                       [](Expr x) { return Lit(1, x) / (Lit(1, x) + Exp(-x)); })
      .Alias({"_npx_sigmoid"})
      .SlopeOfOutput(
          [](const NoAttrs&, Expr y) { return y * (Lit(1, y) - y); });
}

}  // namespace mxc
