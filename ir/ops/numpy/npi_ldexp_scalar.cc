// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/np_arithmetic.h"
#include "ir/ops/tensor/scalar.h"

namespace mxc {

MXC_OP(NpiLdexpScalar) {
  return ScalarOperator("_npi_ldexp_scalar", "data · 2^scalar", np::Ldexp);
}

}  // namespace mxc
