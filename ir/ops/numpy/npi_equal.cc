// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/np_truth.h"

namespace mxc {

MXC_OP(NpiEqual) {
  return NpComparison("_npi_equal", "whether lhs equals rhs",
                      arithmetic::IsEqual);
}

}  // namespace mxc
