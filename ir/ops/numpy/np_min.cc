// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/np_reduction.h"

namespace mxc {

MXC_OP(NpMin) {
  return Op<NpReductionAttrs>("_np_min")
      .Alias({"_np_amin"})
      .Doc("numpy.min")
      .Inputs({{"a", InputKind::kData}})
      .Check(CheckNpReduction)
      .Types(NpReductionTypes)
      .Meaning([](const NpReductionAttrs& attrs, Definition& def) {
        def.Set(0, ReduceInput(attrs.reduction(), def, ReduceOp::kMin,
                               [](Expr x) { return x; }));
      })
      .Gradient([](const NpReductionAttrs& attrs, GradientBuilder& g) {
        return ExtremumGradient(attrs.reduction(), g);
      });
}

}  // namespace mxc
