// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/unary.h"

namespace mxc {

MXC_OP(Sqrt) {
  return UnaryOperator("sqrt", "the square root", Sqrt)
      .Alias({"_npi_sqrt"})
      .SlopeOfOutput([](const NoAttrs&, Expr y) { return Lit(0.5, y) / y; });
}

}  // namespace mxc
