// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/binary.h"

namespace mxc {

MXC_OP(BroadcastLesser) {
  return BroadcastOperator("broadcast_lesser",
                           "1 where lhs is less, else 0, with broadcasting",
                           arithmetic::IsLesser)
      .ZeroGradient();
}

}  // namespace mxc
