// SPDX-License-Identifier: Apache-2.0
// nag_mom_update: Nesterov's accelerated gradient; NagMomentum of formulas.h with
// g = clip(rescale·gradient).
// Source: MXNet 1.9.1 operator/optimizer_op-inl.h, NAGMomKernel, which reads the
// weight again, over which a network's output is not written; and
// MP_NAGMomKernel, which reads the next weight.
#include "ir/ops/updates/sgd_update.h"

namespace mxc {

Op<MomentumUpdateAttrs> NagMomUpdateOperator(std::string name,
                                             WeightCopy copy) {
  return UpdateOperator<MomentumUpdateAttrs>(
      std::move(name), {{"mom"}, copy},
      [copy](const MomentumUpdateAttrs& a, WeightUpdate& u) {
        const auto written =
            copy == WeightCopy::kNone ? Written::kBeside : Written::kOver;
        u.SetMoved(NagMomentum(u.Terms(u.Gradient()),
                               static_cast<float>(a.momentum), u.State(0),
                               written));
      });
}

MXC_OP(NagMomUpdate) {
  return NagMomUpdateOperator("nag_mom_update", WeightCopy::kNone)
      .Doc("the step of Nesterov's accelerated gradient");
}

MXC_OP(MpNagMomUpdate) {
  return NagMomUpdateOperator("mp_nag_mom_update", WeightCopy::kState)
      .Doc("nag_mom_update of a weight with a copy in f32");
}

}  // namespace mxc
