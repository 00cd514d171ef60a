// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/unary.h"

namespace mxc {

MXC_OP(NpiBitwiseNot) {
  return UnaryOperator(
             "_npi_bitwise_not", "integers with every bit turned",
             [](Expr x) {
               if (x->dtype == DType::kBool) return x == Constant(0, x->dtype);
               return Cast(Expr(-1) - Cast(x, DType::kI64), x->dtype);
             },
             Arithmetic::kExact)
      .Inputs({{"x", InputKind::kData}})
      .IntegersOnly()
      .ZeroGradient();
}

}  // namespace mxc
