// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/np_truth.h"

namespace mxc {

MXC_OP(NpiNotEqualScalar) {
  return NpScalarComparison("_npi_not_equal_scalar",
                            "whether data differs from scalar",
                            arithmetic::IsNotEqual);
}

}  // namespace mxc
