// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/np_arithmetic.h"
#include "ir/ops/tensor/binary.h"

namespace mxc {

MXC_OP(NpiBitwiseXor) {
  return BroadcastOperator(
             "_npi_bitwise_xor",
             "bitwise exclusive or of integers, with broadcasting",
             np::BitwiseXor)
      .IntegersOnly()
      .ZeroGradient();
}

}  // namespace mxc
