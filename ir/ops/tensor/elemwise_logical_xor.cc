// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/binary.h"

namespace mxc {

MXC_OP(ElemwiseLogicalXor) {
  return ElementwiseOperator("_logical_xor",
                             "1 where one is 0 and the other is not, else 0",
                             arithmetic::LogicalXor)
      .Alias({"_Logical_Xor"})
      .ZeroGradient();
}

}  // namespace mxc
