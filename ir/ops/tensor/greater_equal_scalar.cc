// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/scalar.h"

namespace mxc {

MXC_OP(GreaterEqualScalar) {
  return ScalarOperator("_greater_equal_scalar",
                        "1 where data is not less, else 0",
                        arithmetic::IsGreaterEqual)
      .Alias({"_GreaterEqualScalar"})
      .ZeroGradient();
}

}  // namespace mxc
