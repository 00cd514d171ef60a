// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/np_arithmetic.h"
#include "ir/ops/tensor/scalar.h"

namespace mxc {

MXC_OP(NpiBitwiseAndScalar) {
  return ScalarOperator("_npi_bitwise_and_scalar",
                        "bitwise and of integers and a number", np::BitwiseAnd)
      .IntegersOnly()
      .ZeroGradient();
}

}  // namespace mxc
