// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/unary.h"

namespace mxc {

MXC_OP(Tanh) {
  return UnaryOperator("tanh", "the hyperbolic tangent", Tanh)
      .Alias({"_npi_tanh"})
      .SlopeOfOutput([](const NoAttrs&, Expr y) { return Lit(1, y) - y * y; });
}

}  // namespace mxc
