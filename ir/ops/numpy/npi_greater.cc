// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/np_truth.h"

namespace mxc {

MXC_OP(NpiGreater) {
  return NpComparison("_npi_greater", "whether lhs exceeds rhs",
                      arithmetic::IsGreater);
}

}  // namespace mxc
