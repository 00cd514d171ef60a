// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/binary.h"

namespace mxc {

MXC_OP(ElemwiseLesserEqual) {
  return ElementwiseOperator("_lesser_equal",
                             "1 where lhs is not greater, else 0",
                             arithmetic::IsLesserEqual)
      .Alias({"_Lesser_Equal"})
      .ZeroGradient();
}

}  // namespace mxc
