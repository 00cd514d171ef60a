// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/np_arithmetic.h"
#include "ir/ops/tensor/binary.h"

namespace mxc {

MXC_OP(NpiCopysign) {
  return BroadcastOperator(
      "_npi_copysign", "the magnitude of x1 with the sign of x2", np::CopySign);
}

}  // namespace mxc
