// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/unary.h"

namespace mxc {

MXC_OP(Sign) {
  return UnaryOperator(
             "sign", "-1, 0 or 1",
             [](Expr x) { return Unary(UnaryOp::kSign, x); },
             Arithmetic::kExact)
      .Alias({"_npi_sign"})
      .ZeroGradient();
}

}  // namespace mxc
