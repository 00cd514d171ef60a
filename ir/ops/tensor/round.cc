// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/unary.h"

namespace mxc {

MXC_OP(Round) {
  return UnaryOperator(
             "round", "the nearest integer, halves away from zero",
             [](Expr x) { return Unary(UnaryOp::kRound, x); },
             Arithmetic::kExact)
      .ZeroGradient();
}

}  // namespace mxc
