// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/np_arithmetic.h"
#include "ir/ops/tensor/scalar.h"

namespace mxc {

MXC_OP(NpiBitwiseXorScalar) {
  return ScalarOperator("_npi_bitwise_xor_scalar",
                        "bitwise exclusive or of integers and a number",
                        np::BitwiseXor)
      .IntegersOnly()
      .ZeroGradient();
}

}  // namespace mxc
