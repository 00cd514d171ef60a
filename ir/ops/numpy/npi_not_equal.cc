// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/np_truth.h"

namespace mxc {

MXC_OP(NpiNotEqual) {
  return NpComparison("_npi_not_equal", "whether lhs differs from rhs",
                      arithmetic::IsNotEqual);
}

}  // namespace mxc
