// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/scalar.h"

namespace mxc {

MXC_OP(LogicalOrScalar) {
  return ScalarOperator("_logical_or_scalar", "1 where either is not 0, else 0",
                        arithmetic::LogicalOr)
      .Alias({"_LogicalOrScalar"})
      .ZeroGradient();
}

}  // namespace mxc
