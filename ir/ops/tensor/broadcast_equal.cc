// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/binary.h"

namespace mxc {

MXC_OP(BroadcastEqual) {
  return BroadcastOperator("broadcast_equal",
                           "1 where equal, else 0, with broadcasting",
                           arithmetic::IsEqual)
      .ZeroGradient();
}

}  // namespace mxc
