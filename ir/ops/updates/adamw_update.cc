// SPDX-License-Identifier: Apache-2.0
// _adamw_update: AdamwWeight of formulas.h with g = clip(rescale_grad·gradient),
// where rescale_grad is the first element of an input. Where that is 0 or not
// finite, all stays as it is; MXNet leaves the output as its memory is.
// Source: MXNet 1.9.1 operator/contrib/adamw-inl.h.
#include "ir/ops/updates/moment_update.h"

namespace mxc {

void StepByAdamw(const AdamwUpdateAttrs& a, WeightUpdate& u) {
  const Expr scale = u.Number(0), zero = u.Literal(0);
  const Expr stays = scale == zero || scale - scale != zero;
  const Expr g = u.Clipped(scale * u.RawGradient());
  const auto [mean, square] = MomentsOf(a, g, u);
  const Expr next = AdamwWeight(u.Terms(g), u.Literal(a.eta), mean, square,
                                u.Literal(a.epsilon));
  u.SetWeight(Select(stays, u.weight(), next));
  u.SetState(0, Select(stays, u.State(0), mean));
  u.SetState(1, Select(stays, u.State(1), square));
}

Op<AdamwUpdateAttrs> AdamwUpdateOperator(std::string name, WeightCopy copy) {
  return UpdateOperator<AdamwUpdateAttrs>(
      std::move(name), {{"mean", "var"}, copy, {"rescale_grad"}}, StepByAdamw);
}

MXC_OP(AdamwUpdate) {
  return AdamwUpdateOperator("_adamw_update", WeightCopy::kNone)
      .Doc("the step of Adam with weight decay of its own");
}

MXC_OP(MpAdamwUpdate) {
  return AdamwUpdateOperator("_mp_adamw_update", WeightCopy::kState)
      .Doc("_adamw_update of a weight with a copy in f32");
}

}  // namespace mxc
