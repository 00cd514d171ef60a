// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/binary.h"

namespace mxc {

MXC_OP(ElemwiseLogicalOr) {
  return ElementwiseOperator("_logical_or", "1 where either is not 0, else 0",
                             arithmetic::LogicalOr)
      .Alias({"_Logical_Or"})
      .ZeroGradient();
}

}  // namespace mxc
