// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/binary.h"

namespace mxc {

MXC_OP(ElemwiseDiv) {
  return ElementwiseOperator("elemwise_div", "lhs / rhs, integers towards zero",
                             arithmetic::Divide)
      .Alias({"_div", "_Div", "_scatter_elemwise_div"});
}

}  // namespace mxc
