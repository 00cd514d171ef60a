// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/np_mixed.h"

namespace mxc {

MXC_OP(NpiAdd) {
  return NpMixedOperator("_npi_add", "lhs + rhs", OperatorOf<op::BroadcastAdd>);
}

}  // namespace mxc
