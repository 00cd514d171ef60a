// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/binary.h"

namespace mxc {

MXC_OP(ElemwiseGreaterEqual) {
  return ElementwiseOperator("_greater_equal",
                             "1 where lhs is not less, else 0",
                             arithmetic::IsGreaterEqual)
      .Alias({"_Greater_Equal"})
      .ZeroGradient();
}

}  // namespace mxc
