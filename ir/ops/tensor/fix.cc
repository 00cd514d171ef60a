// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/unary.h"

namespace mxc {

MXC_OP(Fix) {
  return UnaryOperator(
             "fix", "the nearest integer towards zero",
             [](Expr x) { return Unary(UnaryOp::kTrunc, x); },
             Arithmetic::kExact)
      .Alias({"_npi_fix"})
      .ZeroGradient();
}

}  // namespace mxc
