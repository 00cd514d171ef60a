// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/binary.h"

namespace mxc {

MXC_OP(BroadcastLogicalAnd) {
  return BroadcastOperator("broadcast_logical_and",
                           "1 where both are not 0, else 0, with broadcasting",
                           arithmetic::LogicalAnd)
      .ZeroGradient();
}

}  // namespace mxc
