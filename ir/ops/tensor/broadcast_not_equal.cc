// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/binary.h"

namespace mxc {

MXC_OP(BroadcastNotEqual) {
  return BroadcastOperator("broadcast_not_equal",
                           "1 where not equal, else 0, with broadcasting",
                           arithmetic::IsNotEqual)
      .ZeroGradient();
}

}  // namespace mxc
