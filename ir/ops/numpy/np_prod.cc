// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/np_reduction.h"

namespace mxc {

MXC_OP(NpProd) {
  return Op<NpReductionAttrs>("_np_prod")
      .Alias({"_np_product"})
      .Doc("numpy.prod")
      .Inputs({{"a", InputKind::kData}})
      .Check(CheckNpReduction)
      .Types(NpSumTypes)
      .Meaning([](const NpReductionAttrs& attrs, Definition& def) {
        def.Set(0, ReduceInput(attrs.reduction(), def, ReduceOp::kProduct,
                               [](Expr x) { return Counted(x); }));
      })
      .Gradient([](const NpReductionAttrs& attrs,
                   GradientBuilder& g) -> std::vector<Value> {
        return {ProdGradient(attrs.reduction(), g, g.In(0))};
      });
}

}  // namespace mxc
