// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/reduction.h"

namespace mxc {

MXC_OP(Max) {
  return ReductionOperator("max", "the greatest element over axes",
                           ReduceOp::kMax, [](Expr x) { return x; })
      .Alias({"max_axis"})
      .Gradient(ExtremumGradient);
}

}  // namespace mxc
