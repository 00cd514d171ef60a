// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/np_mixed.h"

namespace mxc {

MXC_OP(NpiMultiply) {
  return NpMixedOperator("_npi_multiply", "lhs · rhs",
                         OperatorOf<op::BroadcastMul>);
}

}  // namespace mxc
