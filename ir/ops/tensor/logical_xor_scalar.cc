// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/scalar.h"

namespace mxc {

MXC_OP(LogicalXorScalar) {
  return ScalarOperator("_logical_xor_scalar",
                        "1 where one is 0 and the other is not, else 0",
                        arithmetic::LogicalXor)
      .Alias({"_LogicalXorScalar"})
      .ZeroGradient();
}

}  // namespace mxc
