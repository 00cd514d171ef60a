// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/np_truth.h"

namespace mxc {

MXC_OP(NpiLessEqualScalar) {
  return NpScalarComparison("_npi_less_equal_scalar",
                            "whether data is at most scalar",
                            arithmetic::IsLesserEqual);
}

}  // namespace mxc
