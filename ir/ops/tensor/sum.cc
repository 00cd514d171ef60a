// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/reduction.h"

namespace mxc {

MXC_OP(Sum) {
  return ReductionOperator("sum", "the sum over axes", ReduceOp::kSum,
                           [](Expr x) { return x; })
      .Alias({"sum_axis"})
      .Gradient(SumGradient);
}

}  // namespace mxc
