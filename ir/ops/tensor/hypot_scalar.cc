// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/scalar.h"

namespace mxc {

MXC_OP(HypotScalar) {
  return ScalarOperator("_hypot_scalar",
                        "the square root of data squared plus scalar squared",
                        arithmetic::Hypotenuse)
      .Alias({"_npi_hypot_scalar", "_HypotScalar"});
}

}  // namespace mxc
