// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/unary.h"

namespace mxc {

MXC_OP(ZerosLike) {
  return UnaryOperator(
             "zeros_like", "zeros of the shape and type of the input",
             [](Expr x) { return Constant(0, x->dtype); }, Arithmetic::kExact)
      .ZeroGradient();
}

}  // namespace mxc
