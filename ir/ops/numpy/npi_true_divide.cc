// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/np_mixed.h"

namespace mxc {

MXC_OP(NpiTrueDivide) {
  return NpMixedOperator("_npi_true_divide", "lhs / rhs",
                         OperatorOf<op::BroadcastDiv>, true);
}

}  // namespace mxc
