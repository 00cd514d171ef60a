// SPDX-License-Identifier: Apache-2.0
// rmsprop_update: NextByRmsprop of formulas.h with
// g = clip(rescale·gradient + wd·w); then w is limited to ±clip_weights.
// Source: MXNet 1.9.1 operator/optimizer_op-inl.h, RMSPropUpdate.
#include "ir/ops/updates/rmsprop_update.h"

namespace mxc {
namespace {

struct RmspropUpdateAttrs : RmspropUpdateOptions {
  void Describe(Fields& f) {
    DescribeRate(f);
    DescribeMean(f);
    DescribeGradient(f);
    DescribeLimit(f);
  }
};

void StepByRmsprop(const RmspropUpdateAttrs& a, WeightUpdate& u) {
  const auto [weight, n] =
      NextByRmsprop(u.Terms(u.DecayedGradient()), static_cast<float>(a.gamma1),
                    u.Literal(a.epsilon), u.State(0));
  u.SetWeight(a.Limited(weight, u));
  u.SetState(0, n);
}

}  // namespace

MXC_OP(RmspropUpdate) {
  return UpdateOperator<RmspropUpdateAttrs>("rmsprop_update", {{"n"}},
                                            StepByRmsprop)
      .Doc("the step of rmsprop");
}

}  // namespace mxc
