// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/binary.h"

namespace mxc {

MXC_OP(BroadcastDiv) {
  return BroadcastOperator("broadcast_div",
                           "lhs / rhs, integers towards zero with broadcasting",
                           arithmetic::Divide);
}

}  // namespace mxc
