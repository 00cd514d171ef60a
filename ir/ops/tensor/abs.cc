// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/unary.h"

namespace mxc {

MXC_OP(Abs) {
  return UnaryOperator("abs", "the absolute value", Abs, Arithmetic::kExact)
      .Alias({"_npi_abs", "_npi_absolute"});
}

}  // namespace mxc
