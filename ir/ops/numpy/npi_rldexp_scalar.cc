// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/np_arithmetic.h"
#include "ir/ops/tensor/scalar.h"

namespace mxc {

MXC_OP(NpiRldexpScalar) {
  return ScalarOperator("_npi_rldexp_scalar", "scalar · 2^data", np::Ldexp,
                        ScalarSide::kLeft);
}

}  // namespace mxc
