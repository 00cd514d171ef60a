// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/binary.h"

namespace mxc {

MXC_OP(BroadcastLogicalOr) {
  return BroadcastOperator("broadcast_logical_or",
                           "1 where either is not 0, else 0, with broadcasting",
                           arithmetic::LogicalOr)
      .ZeroGradient();
}

}  // namespace mxc
