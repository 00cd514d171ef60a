// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/unary.h"

namespace mxc {

MXC_OP(Floor) {
  return UnaryOperator(
             "floor", "the greatest integer not above x",
             [](Expr x) { return Unary(UnaryOp::kFloor, x); },
             Arithmetic::kExact)
      .Alias({"_npi_floor"})
      .ZeroGradient();
}

}  // namespace mxc
