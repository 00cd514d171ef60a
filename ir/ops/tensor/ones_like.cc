// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/unary.h"

namespace mxc {

MXC_OP(OnesLike) {
  return UnaryOperator(
             "ones_like", "ones of the shape and type of the input",
             [](Expr x) { return Constant(1, x->dtype); }, Arithmetic::kExact)
      .ZeroGradient();
}

}  // namespace mxc
