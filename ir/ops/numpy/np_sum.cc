// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/np_reduction.h"

namespace mxc {

MXC_OP(NpSum) {
  return Op<NpReductionAttrs>("_np_sum")
      .Doc("numpy.sum")
      .Inputs({{"a", InputKind::kData}})
      .Check(CheckNpReduction)
      .Types(NpSumTypes)
      .Meaning([](const NpReductionAttrs& attrs, Definition& def) {
        def.Set(0, ReduceInput(attrs.reduction(), def, ReduceOp::kSum,
                               [](Expr x) { return Counted(x); }));
      })
      .Gradient([](const NpReductionAttrs& attrs, GradientBuilder& g) {
        return SumGradient(attrs.reduction(), g);
      });
}

}  // namespace mxc
