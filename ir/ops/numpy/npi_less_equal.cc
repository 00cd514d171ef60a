// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/np_truth.h"

namespace mxc {

MXC_OP(NpiLessEqual) {
  return NpComparison("_npi_less_equal", "whether lhs is at most rhs",
                      arithmetic::IsLesserEqual);
}

}  // namespace mxc
