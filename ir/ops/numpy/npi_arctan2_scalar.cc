// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/np_arithmetic.h"
#include "ir/ops/tensor/scalar.h"

namespace mxc {

MXC_OP(NpiArctan2Scalar) {
  return ScalarOperator("_npi_arctan2_scalar",
                        "the angle of the points (scalar, data)", np::Arctan2)
      .FloatsOnly();
}

}  // namespace mxc
