// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/unary.h"

namespace mxc {

MXC_OP(Rsqrt) {
  return UnaryOperator("rsqrt", "1 / the square root",
                       [](Expr x) { return Lit(1, x) / Sqrt(x); })
      .SlopeOfOutput(
          [](const NoAttrs&, Expr y) { return Lit(-0.5, y) * y * y * y; });
}

}  // namespace mxc
