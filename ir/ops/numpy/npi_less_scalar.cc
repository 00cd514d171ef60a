// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/np_truth.h"

namespace mxc {

MXC_OP(NpiLessScalar) {
  return NpScalarComparison("_npi_less_scalar", "whether data is below scalar",
                            arithmetic::IsLesser);
}

}  // namespace mxc
