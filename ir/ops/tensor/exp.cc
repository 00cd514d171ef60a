// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/unary.h"

namespace mxc {

MXC_OP(Exp) {
  return UnaryOperator("exp", "e to the power x", Exp)
      .Alias({"_npi_exp"})
      .SlopeOfOutput([](const NoAttrs&, Expr y) { return y; });
}

}  // namespace mxc
