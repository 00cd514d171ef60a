// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/unary.h"

namespace mxc {

MXC_OP(Negative) {
  return UnaryOperator(
             "negative", "-x", [](Expr x) { return -x; }, Arithmetic::kExact)
      .Alias({"_npi_negative"})
      .Gradient([](const NoAttrs&, GradientBuilder& g) {
        return std::vector<Value>{g.Neg(g.Head())};
      });
}

}  // namespace mxc
