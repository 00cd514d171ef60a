// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/np_arithmetic.h"
#include "ir/ops/tensor/scalar.h"

namespace mxc {

MXC_OP(NpiCopysignScalar) {
  return ScalarOperator("_npi_copysign_scalar",
                        "the magnitude of data with the sign of scalar",
                        np::CopySign);
}

}  // namespace mxc
