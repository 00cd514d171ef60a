// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/scalar.h"

namespace mxc {

MXC_OP(RdivScalar) {
  return ScalarOperator("_rdiv_scalar", "scalar / data, integers towards zero",
                        arithmetic::Divide, ScalarSide::kLeft)
      .Alias({"_RDivScalar"});
}

}  // namespace mxc
