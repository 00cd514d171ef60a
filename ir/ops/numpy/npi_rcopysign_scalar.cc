// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/np_arithmetic.h"
#include "ir/ops/tensor/scalar.h"

namespace mxc {

MXC_OP(NpiRcopysignScalar) {
  return ScalarOperator("_npi_rcopysign_scalar",
                        "the magnitude of scalar with the sign of data",
                        np::CopySign, ScalarSide::kLeft);
}

}  // namespace mxc
