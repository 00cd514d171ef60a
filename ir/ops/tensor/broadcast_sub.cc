// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/binary.h"

namespace mxc {

MXC_OP(BroadcastSub) {
  return BroadcastOperator("broadcast_sub", "lhs minus rhs with broadcasting",
                           arithmetic::Subtract)
      .Alias({"broadcast_minus"})
      .Gradient([](const NoAttrs&, GradientBuilder& g) {
        const Value rhs = g.HeadSummedTo(1);
        return std::vector<Value>{g.HeadSummedTo(0), rhs ? g.Neg(rhs) : rhs};
      });
}

}  // namespace mxc
