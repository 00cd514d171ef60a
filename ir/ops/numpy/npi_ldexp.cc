// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/np_arithmetic.h"
#include "ir/ops/tensor/binary.h"

namespace mxc {

MXC_OP(NpiLdexp) {
  return BroadcastOperator("_npi_ldexp", "x1 · 2^x2", np::Ldexp);
}

}  // namespace mxc
