// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/scalar.h"

namespace mxc {

MXC_OP(LesserEqualScalar) {
  return ScalarOperator("_lesser_equal_scalar",
                        "1 where data is not greater, else 0",
                        arithmetic::IsLesserEqual)
      .Alias({"_LesserEqualScalar"})
      .ZeroGradient();
}

}  // namespace mxc
