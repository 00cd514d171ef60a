// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/unary.h"

namespace mxc {

MXC_OP(Softsign) {
  return UnaryOperator("softsign", "x / (1 + |x|)",
                       [](Expr x) { return x / (Lit(1, x) + Abs(x)); })
      .SlopeOfInput([](const NoAttrs&, Expr x) {
        const Expr root = Lit(1, x) + Abs(x);
        return Lit(1, x) / (root * root);
      });
}

}  // namespace mxc
