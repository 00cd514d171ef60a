// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/unary.h"

namespace mxc {

MXC_OP(LogicalNot) {
  return UnaryOperator(
             "logical_not", "1 where x is 0, else 0",
             [](Expr x) { return Cast(x == Constant(0, x->dtype), x->dtype); },
             Arithmetic::kExact)
      .ZeroGradient();
}

}  // namespace mxc
