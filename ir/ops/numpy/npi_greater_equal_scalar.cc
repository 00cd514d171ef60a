// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/np_truth.h"

namespace mxc {

MXC_OP(NpiGreaterEqualScalar) {
  return NpScalarComparison("_npi_greater_equal_scalar",
                            "whether data is at least scalar",
                            arithmetic::IsGreaterEqual);
}

}  // namespace mxc
