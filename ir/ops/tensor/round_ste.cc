// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/unary.h"

namespace mxc {

MXC_OP(RoundSte) {
  return UnaryOperator(
             "_contrib_round_ste",
             "the nearest integer, halves away from zero; its gradient is 1",
             [](Expr x) { return Unary(UnaryOp::kRound, x); })
      .PassGradient();
}

}  // namespace mxc
