// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/np_mixed.h"

namespace mxc {

MXC_OP(NpiSubtract) {
  return NpMixedOperator("_npi_subtract", "lhs − rhs",
                         OperatorOf<op::BroadcastSub>);
}

}  // namespace mxc
