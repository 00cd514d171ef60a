// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/np_truth.h"

namespace mxc {

MXC_OP(NpiGreaterScalar) {
  return NpScalarComparison("_npi_greater_scalar",
                            "whether data exceeds scalar",
                            arithmetic::IsGreater);
}

}  // namespace mxc
