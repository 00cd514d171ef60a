// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/np_truth.h"

namespace mxc {

MXC_OP(NpiLess) {
  return NpComparison("_npi_less", "whether lhs is below rhs",
                      arithmetic::IsLesser);
}

}  // namespace mxc
