// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/np_truth.h"

namespace mxc {

MXC_OP(NpiGreaterEqual) {
  return NpComparison("_npi_greater_equal", "whether lhs is at least rhs",
                      arithmetic::IsGreaterEqual);
}

}  // namespace mxc
