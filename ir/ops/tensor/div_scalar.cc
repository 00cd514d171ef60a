// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/scalar.h"

namespace mxc {

MXC_OP(DivScalar) {
  return ScalarOperator("_div_scalar", "data / scalar, integers towards zero",
                        arithmetic::Divide)
      .Alias({"_DivScalar"});
}

}  // namespace mxc
