// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/binary.h"

namespace mxc {

MXC_OP(ElemwiseEqual) {
  return ElementwiseOperator("_equal", "1 where equal, else 0",
                             arithmetic::IsEqual)
      .Alias({"_Equal"})
      .ZeroGradient();
}

}  // namespace mxc
