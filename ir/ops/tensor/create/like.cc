// SPDX-License-Identifier: Apache-2.0
// Constants of the shape and type of the input: a row for each.
#include "ir/ops/tensor/elementwise/unary.h"

namespace mxc {

MXC_OP(ZerosLike) {
  return UnaryOperator(
             "zeros_like", "zeros of the shape and type of the input",
             [](Expr x) { return Constant(0, x->dtype); }, Arithmetic::kExact)
      .ZeroGradient();
}

MXC_OP(OnesLike) {
  return UnaryOperator(
             "ones_like", "ones of the shape and type of the input",
             [](Expr x) { return Constant(1, x->dtype); }, Arithmetic::kExact)
      .ZeroGradient();
}

}  // namespace mxc
