// SPDX-License-Identifier: Apache-2.0
// Activations without attributes: a row for each.
#include "ir/ops/tensor/elementwise/unary.h"

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

MXC_OP(Sigmoid) {
  return UnaryOperator("sigmoid", "1 / (1 + e to the power -x)",
                       [](Expr x) { return Lit(1, x) / (Lit(1, x) + Exp(-x)); })
      .Alias({"_npx_sigmoid"})
      .SlopeOfOutput(
          [](const NoAttrs&, Expr y) { return y * (Lit(1, y) - y); });
}

MXC_OP(Softsign) {
  return UnaryOperator("softsign", "x / (1 + |x|)",
                       [](Expr x) { return x / (Lit(1, x) + Abs(x)); })
      .SlopeOfInput([](const NoAttrs&, Expr x) {
        const Expr root = Lit(1, x) + Abs(x);
        return Lit(1, x) / (root * root);
      });
}

}  // namespace mxc
