// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/np_reduction.h"
#include "ir/ops/tensor/arithmetic.h"

namespace mxc {

MXC_OP(NpAny) {
  return Op<NpTruthAttrs>("_np_any")
      .Alias({"_np_sometrue"})
      .Doc("whether any element is not 0")
      .Types(NpTruthTypes)
      .Meaning([](const NpTruthAttrs& attrs, Definition& def) {
        const Expr found =
            ReduceInput(attrs.reduction(), def, ReduceOp::kMax,
                        [](Expr x) { return Cast(IsTrue(x), DType::kI32); });
        def.Set(0, IsTrue(found));
      })
      .ZeroGradient();
}

}  // namespace mxc
