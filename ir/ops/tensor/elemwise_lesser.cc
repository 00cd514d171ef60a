// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/binary.h"

namespace mxc {

MXC_OP(ElemwiseLesser) {
  return ElementwiseOperator("_lesser", "1 where lhs is less, else 0",
                             arithmetic::IsLesser)
      .Alias({"_Lesser"})
      .ZeroGradient();
}

}  // namespace mxc
