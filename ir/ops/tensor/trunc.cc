// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/unary.h"

namespace mxc {

MXC_OP(Trunc) {
  return UnaryOperator(
             "trunc", "x without its fraction",
             [](Expr x) { return Unary(UnaryOp::kTrunc, x); },
             Arithmetic::kExact)
      .Alias({"_npi_trunc"})
      .ZeroGradient();
}

}  // namespace mxc
