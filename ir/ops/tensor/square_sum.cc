// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/reduction.h"

namespace mxc {

MXC_OP(SquareSum) {
  return ReductionOperator("_square_sum", "the sum of the squares over axes",
                           ReduceOp::kSum, [](Expr x) { return x * x; })
      .Gradient([](const ReductionAttrs& attrs,
                   GradientBuilder& g) -> std::vector<Value> {
        return {g.Mul(g.Mul(g.In(0), 2), KeepReduced(attrs, g, g.Head()))};
      });
}

}  // namespace mxc
