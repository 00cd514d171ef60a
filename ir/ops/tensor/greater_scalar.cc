// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/scalar.h"

namespace mxc {

MXC_OP(GreaterScalar) {
  return ScalarOperator("_greater_scalar", "1 where data is greater, else 0",
                        arithmetic::IsGreater)
      .Alias({"_GreaterScalar"})
      .ZeroGradient();
}

}  // namespace mxc
