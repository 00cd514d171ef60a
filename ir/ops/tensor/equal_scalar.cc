// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/scalar.h"

namespace mxc {

MXC_OP(EqualScalar) {
  return ScalarOperator("_equal_scalar", "1 where data equals scalar, else 0",
                        arithmetic::IsEqual)
      .Alias({"_EqualScalar"})
      .ZeroGradient();
}

}  // namespace mxc
