// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/np_shift.h"
#include "ir/ops/tensor/binary.h"

namespace mxc {

MXC_OP(NpiBitwiseRightShift) {
  return BroadcastOperator("_npi_bitwise_right_shift",
                           "integers shifted to the right, with broadcasting",
                           np::ShiftedRight)
      .IntegersOnly()
      .ZeroGradient();
}

}  // namespace mxc
