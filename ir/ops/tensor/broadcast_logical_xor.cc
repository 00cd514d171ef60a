// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/binary.h"

namespace mxc {

MXC_OP(BroadcastLogicalXor) {
  return BroadcastOperator(
             "broadcast_logical_xor",
             "1 where one is 0 and the other is not, else 0, with broadcasting",
             arithmetic::LogicalXor)
      .ZeroGradient();
}

}  // namespace mxc
