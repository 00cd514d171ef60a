// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/unary.h"

namespace mxc {

MXC_OP(Reciprocal) {
  return UnaryOperator("reciprocal", "1 / x",
                       [](Expr x) { return Lit(1, x) / x; })
      .Alias({"_npi_reciprocal"})
      .SlopeOfOutput([](const NoAttrs&, Expr y) { return -(y * y); });
}

}  // namespace mxc
