// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/binary.h"

namespace mxc {

MXC_OP(ElemwiseLogicalAnd) {
  return ElementwiseOperator("_logical_and", "1 where both are not 0, else 0",
                             arithmetic::LogicalAnd)
      .Alias({"_Logical_And"})
      .ZeroGradient();
}

}  // namespace mxc
