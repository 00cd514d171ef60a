// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/unary.h"

namespace mxc {

MXC_OP(Cbrt) {
  return UnaryOperator("cbrt", "the cube root",
                       [](Expr x) { return Unary(UnaryOp::kCbrt, x); })
      .Alias({"_npi_cbrt"})
      .SlopeOfOutput(
          [](const NoAttrs&, Expr y) { return Lit(1.0 / 3, y) / (y * y); });
}

}  // namespace mxc
