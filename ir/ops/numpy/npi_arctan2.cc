// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/np_arithmetic.h"
#include "ir/ops/tensor/binary.h"

namespace mxc {

MXC_OP(NpiArctan2) {
  return BroadcastOperator("_npi_arctan2", "the angle of the points (x2, x1)",
                           np::Arctan2)
      .FloatsOnly();
}

}  // namespace mxc
