// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/unary.h"

namespace mxc {

MXC_OP(SignSte) {
  return UnaryOperator(
             "_contrib_sign_ste", "-1, 0 or 1; its gradient is 1",
             [](Expr x) { return Unary(UnaryOp::kSign, x); },
             Arithmetic::kExact)
      .PassGradient();
}

}  // namespace mxc
