// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/binary.h"

namespace mxc {

MXC_OP(ElemwiseSub) {
  return ElementwiseOperator("elemwise_sub", "lhs minus rhs",
                             arithmetic::Subtract)
      .Alias({"_sub", "_minus", "_Minus", "_Sub"})
      .Gradient([](const NoAttrs&, GradientBuilder& g) {
        return std::vector<Value>{g.Head(),
                                  g.Needs(1) ? g.Neg(g.Head()) : Value()};
      });
}

}  // namespace mxc
