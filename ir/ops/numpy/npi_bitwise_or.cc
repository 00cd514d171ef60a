// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/np_arithmetic.h"
#include "ir/ops/tensor/binary.h"

namespace mxc {

MXC_OP(NpiBitwiseOr) {
  return BroadcastOperator("_npi_bitwise_or",
                           "bitwise or of integers, with broadcasting",
                           np::BitwiseOr)
      .IntegersOnly()
      .ZeroGradient();
}

}  // namespace mxc
