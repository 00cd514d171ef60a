// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/np_arithmetic.h"
#include "ir/ops/tensor/scalar.h"

namespace mxc {

MXC_OP(NpiRarctan2Scalar) {
  return ScalarOperator("_npi_rarctan2_scalar",
                        "the angle of the points (data, scalar)", np::Arctan2,
                        ScalarSide::kLeft)
      .FloatsOnly();
}

}  // namespace mxc
