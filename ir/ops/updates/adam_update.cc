// SPDX-License-Identifier: Apache-2.0
// adam_update: AdamWeight of formulas.h, whose rate is lr as it is, with
// g = clip(rescale·gradient + wd·w).
// Source: MXNet 1.9.1 operator/optimizer_op-inl.h, AdamUpdate.
#include "ir/ops/updates/moment_update.h"

namespace mxc {
namespace {

struct AdamUpdateAttrs : MomentUpdateOptions {
  bool lazy_update = true;

  void Describe(Fields& f) {
    DescribeRate(f);
    DescribeMoments(f);
    DescribeGradient(f);
    DescribeLazy(f, lazy_update);
  }
};

void StepByAdam(const AdamUpdateAttrs& a, WeightUpdate& u) {
  const Expr g = u.DecayedGradient();
  const auto [mean, square] = MomentsOf(a, g, u);
  u.SetWeight(AdamWeight(u.Terms(g), mean, square, u.Literal(a.epsilon)));
  u.SetState(0, mean);
  u.SetState(1, square);
}

}  // namespace

NextMoments MomentsOf(const MomentUpdateOptions& a, const Expr& gradient,
                      const WeightUpdate& u) {
  return {RunningMean(static_cast<float>(a.beta1), u.State(0), gradient),
          RunningMean(static_cast<float>(a.beta2), u.State(1),
                      gradient * gradient)};
}

MXC_OP(AdamUpdate) {
  return UpdateOperator<AdamUpdateAttrs>("adam_update", {{"mean", "var"}},
                                         StepByAdam)
      .Doc("the step of Adam, without bias correction");
}

}  // namespace mxc
