// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/np_reduction.h"
#include "ir/ops/tensor/arithmetic.h"

namespace mxc {

MXC_OP(NpAll) {
  return Op<NpTruthAttrs>("_np_all")
      .Doc("whether no element is 0")
      .Types(NpTruthTypes)
      .Meaning([](const NpTruthAttrs& attrs, Definition& def) {
        const Expr found =
            ReduceInput(attrs.reduction(), def, ReduceOp::kMin,
                        [](Expr x) { return Cast(IsTrue(x), DType::kI32); });
        def.Set(0, IsTrue(found));
      })
      .ZeroGradient();
}

}  // namespace mxc
