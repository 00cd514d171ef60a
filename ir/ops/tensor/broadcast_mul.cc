// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/binary.h"

namespace mxc {

MXC_OP(BroadcastMul) {
  return BroadcastOperator("broadcast_mul", "the product with broadcasting",
                           arithmetic::Multiply);
}

}  // namespace mxc
