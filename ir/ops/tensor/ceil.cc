// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/unary.h"

namespace mxc {

MXC_OP(Ceil) {
  return UnaryOperator(
             "ceil", "the least integer not below x",
             [](Expr x) { return Unary(UnaryOp::kCeil, x); },
             Arithmetic::kExact)
      .Alias({"_npi_ceil"})
      .ZeroGradient();
}

}  // namespace mxc
