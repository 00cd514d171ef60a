// SPDX-License-Identifier: Apache-2.0
// sgd_mom_update: stochastic gradient descent with momentum; SgdMomentum of
// formulas.h with g = clip(rescale·gradient).
// Source: MXNet 1.9.1 operator/optimizer_op-inl.h, SGDMomKernel.
#include "ir/ops/updates/sgd_update.h"

namespace mxc {

Op<SgdMomUpdateAttrs> SgdMomUpdateOperator(std::string name, WeightCopy copy) {
  return UpdateOperator<SgdMomUpdateAttrs>(
      std::move(name), {{"mom"}, copy},
      [](const SgdMomUpdateAttrs& a, WeightUpdate& u) {
        u.SetMoved(SgdMomentum(u.Terms(u.Gradient()), u.Literal(a.momentum),
                               u.State(0)));
      });
}

MXC_OP(SgdMomUpdate) {
  return SgdMomUpdateOperator("sgd_mom_update", WeightCopy::kNone)
      .Doc("the step of stochastic gradient descent with momentum");
}

MXC_OP(MpSgdMomUpdate) {
  return SgdMomUpdateOperator("mp_sgd_mom_update", WeightCopy::kState)
      .Doc("sgd_mom_update of a weight with a copy in f32");
}

}  // namespace mxc
