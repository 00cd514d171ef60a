// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/binary.h"

namespace mxc {

MXC_OP(BroadcastLesserEqual) {
  return BroadcastOperator(
             "broadcast_lesser_equal",
             "1 where lhs is not greater, else 0, with broadcasting",
             arithmetic::IsLesserEqual)
      .ZeroGradient();
}

}  // namespace mxc
