// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/binary.h"

namespace mxc {

MXC_OP(ElemwiseGreater) {
  return ElementwiseOperator("_greater", "1 where lhs is greater, else 0",
                             arithmetic::IsGreater)
      .Alias({"_Greater"})
      .ZeroGradient();
}

}  // namespace mxc
