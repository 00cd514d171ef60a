// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/scalar.h"

namespace mxc {

MXC_OP(LesserScalar) {
  return ScalarOperator("_lesser_scalar", "1 where data is less, else 0",
                        arithmetic::IsLesser)
      .Alias({"_LesserScalar"})
      .ZeroGradient();
}

}  // namespace mxc
