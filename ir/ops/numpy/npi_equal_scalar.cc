// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/np_truth.h"

namespace mxc {

MXC_OP(NpiEqualScalar) {
  return NpScalarComparison("_npi_equal_scalar", "whether data equals scalar",
                            arithmetic::IsEqual);
}

}  // namespace mxc
