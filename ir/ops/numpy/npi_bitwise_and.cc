// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/np_arithmetic.h"
#include "ir/ops/tensor/binary.h"

namespace mxc {

MXC_OP(NpiBitwiseAnd) {
  return BroadcastOperator("_npi_bitwise_and",
                           "bitwise and of integers, with broadcasting",
                           np::BitwiseAnd)
      .IntegersOnly()
      .ZeroGradient();
}

}  // namespace mxc
