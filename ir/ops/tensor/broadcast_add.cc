// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/binary.h"

namespace mxc {

MXC_OP(BroadcastAdd) {
  return BroadcastOperator("broadcast_add", "the sum with broadcasting",
                           arithmetic::Add)
      .Alias({"broadcast_plus"})
      .Gradient([](const NoAttrs&, GradientBuilder& g) {
        return std::vector<Value>{g.HeadSummedTo(0), g.HeadSummedTo(1)};
      });
}

}  // namespace mxc
