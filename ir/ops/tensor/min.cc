// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/reduction.h"

namespace mxc {

MXC_OP(Min) {
  return ReductionOperator("min", "the least element over axes", ReduceOp::kMin,
                           [](Expr x) { return x; })
      .Alias({"min_axis"})
      .Gradient(ExtremumGradient);
}

}  // namespace mxc
