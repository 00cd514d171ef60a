// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/scalar.h"

namespace mxc {

MXC_OP(MinusScalar) {
  return ScalarOperator("_minus_scalar", "data - scalar", arithmetic::Subtract)
      .Alias({"_MinusScalar", "_npi_subtract_scalar", "_scatter_minus_scalar"})
      .PassGradient();
}

}  // namespace mxc
