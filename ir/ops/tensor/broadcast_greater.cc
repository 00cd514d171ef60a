// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/binary.h"

namespace mxc {

MXC_OP(BroadcastGreater) {
  return BroadcastOperator("broadcast_greater",
                           "1 where lhs is greater, else 0, with broadcasting",
                           arithmetic::IsGreater)
      .ZeroGradient();
}

}  // namespace mxc
