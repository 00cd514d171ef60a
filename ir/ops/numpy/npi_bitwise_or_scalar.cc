// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/np_arithmetic.h"
#include "ir/ops/tensor/scalar.h"

namespace mxc {

MXC_OP(NpiBitwiseOrScalar) {
  return ScalarOperator("_npi_bitwise_or_scalar",
                        "bitwise or of integers and a number", np::BitwiseOr)
      .IntegersOnly()
      .ZeroGradient();
}

}  // namespace mxc
