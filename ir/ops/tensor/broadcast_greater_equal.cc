// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/binary.h"

namespace mxc {

MXC_OP(BroadcastGreaterEqual) {
  return BroadcastOperator("broadcast_greater_equal",
                           "1 where lhs is not less, else 0, with broadcasting",
                           arithmetic::IsGreaterEqual)
      .ZeroGradient();
}

}  // namespace mxc
