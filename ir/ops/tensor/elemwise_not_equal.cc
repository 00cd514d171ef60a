// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/binary.h"

namespace mxc {

MXC_OP(ElemwiseNotEqual) {
  return ElementwiseOperator("_not_equal", "1 where not equal, else 0",
                             arithmetic::IsNotEqual)
      .Alias({"_Not_Equal"})
      .ZeroGradient();
}

}  // namespace mxc
