// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/scalar.h"

namespace mxc {

MXC_OP(PlusScalar) {
  return ScalarOperator("_plus_scalar", "data + scalar", arithmetic::Add)
      .Alias({"_PlusScalar", "_npi_add_scalar", "_scatter_plus_scalar"})
      .PassGradient();
}

}  // namespace mxc
