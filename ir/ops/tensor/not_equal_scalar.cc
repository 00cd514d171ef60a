// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/scalar.h"

namespace mxc {

MXC_OP(NotEqualScalar) {
  return ScalarOperator("_not_equal_scalar",
                        "1 where data differs from scalar, else 0",
                        arithmetic::IsNotEqual)
      .Alias({"_NotEqualScalar"})
      .ZeroGradient();
}

}  // namespace mxc
