// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/unary.h"

namespace mxc {

MXC_OP(Tan) {
  return UnaryOperator("tan", "the tangent",
                       [](Expr x) { return Unary(UnaryOp::kTan, x); })
      .Alias({"_npi_tan"})
      .SlopeOfOutput([](const NoAttrs&, Expr y) { return Lit(1, y) + y * y; });
}

}  // namespace mxc
