// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/scalar.h"

namespace mxc {

MXC_OP(RminusScalar) {
  return ScalarOperator("_rminus_scalar", "scalar - data", arithmetic::Subtract,
                        ScalarSide::kLeft)
      .Alias({"_RMinusScalar", "_npi_rsubtract_scalar"})
      .Gradient([](const ScalarAttrs&, GradientBuilder& g) {
        return std::vector<Value>{g.Neg(g.Head())};
      });
}

}  // namespace mxc
