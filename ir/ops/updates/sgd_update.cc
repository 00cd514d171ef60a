// SPDX-License-Identifier: Apache-2.0
// sgd_update: stochastic gradient descent.
//   w ← w − (lr·wd·w + lr·g), g = clip(rescale·gradient)
// Source: MXNet 1.9.1 operator/optimizer_op-inl.h, SGDKernel.
#include "ir/ops/updates/sgd_update.h"

namespace mxc {

Op<SgdUpdateAttrs> SgdUpdateOperator(std::string name, WeightCopy copy) {
  return UpdateOperator<SgdUpdateAttrs>(
      std::move(name), {{}, copy}, [](const auto&, WeightUpdate& u) {
        u.SetWeight(u.weight() - SgdStep(u.Terms(u.Gradient())));
      });
}

MXC_OP(SgdUpdate) {
  return SgdUpdateOperator("sgd_update", WeightCopy::kNone)
      .Doc("the step of stochastic gradient descent");
}

MXC_OP(MpSgdUpdate) {
  return SgdUpdateOperator("mp_sgd_update", WeightCopy::kState)
      .Doc("sgd_update of a weight with a copy in f32");
}

}  // namespace mxc
