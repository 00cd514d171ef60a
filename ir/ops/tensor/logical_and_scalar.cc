// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/scalar.h"

namespace mxc {

MXC_OP(LogicalAndScalar) {
  return ScalarOperator("_logical_and_scalar",
                        "1 where data and scalar are not 0, else 0",
                        arithmetic::LogicalAnd)
      .Alias({"_LogicalAndScalar"})
      .ZeroGradient();
}

}  // namespace mxc
