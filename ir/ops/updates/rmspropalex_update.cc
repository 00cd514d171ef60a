// SPDX-License-Identifier: Apache-2.0
// rmspropalex_update: NextByCentredRmsprop of formulas.h with
// g = clip(rescale·gradient + wd·w); then w is limited to ±clip_weights.
// Source: MXNet 1.9.1 operator/optimizer_op-inl.h, RMSPropAlexUpdate.
#include "ir/ops/updates/rmsprop_update.h"

namespace mxc {
namespace {

struct RmspropalexUpdateAttrs : RmspropUpdateOptions {
  double gamma2 = 0.9;

  void Describe(Fields& f) {
    DescribeRate(f);
    DescribeMean(f);
    f("gamma2", gamma2).Doc("what part of the last step is made again");
    DescribeGradient(f);
    DescribeLimit(f);
  }
};

void StepByRmspropalex(const RmspropalexUpdateAttrs& a, WeightUpdate& u) {
  const auto [weight, n, mean, delta] = NextByCentredRmsprop(
      u.Terms(u.DecayedGradient()), static_cast<float>(a.gamma1),
      u.Literal(a.gamma2), u.Literal(a.epsilon),
      {u.weight(), u.State(0), u.State(1), u.State(2)});
  u.SetWeight(a.Limited(weight, u));
  u.SetState(0, n);
  u.SetState(1, mean);
  u.SetState(2, delta);
}

}  // namespace

MXC_OP(RmspropalexUpdate) {
  return UpdateOperator<RmspropalexUpdateAttrs>(
             "rmspropalex_update", {{"n", "g", "delta"}}, StepByRmspropalex)
      .Doc("the step of centred rmsprop");
}

}  // namespace mxc
