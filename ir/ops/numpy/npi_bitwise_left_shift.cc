// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/np_shift.h"
#include "ir/ops/tensor/binary.h"

namespace mxc {

MXC_OP(NpiBitwiseLeftShift) {
  return BroadcastOperator("_npi_bitwise_left_shift",
                           "integers shifted to the left, with broadcasting",
                           np::ShiftedLeft)
      .IntegersOnly()
      .ZeroGradient();
}

}  // namespace mxc
