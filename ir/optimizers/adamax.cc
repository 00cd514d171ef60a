// SPDX-License-Identifier: Apache-2.0
// adamax: Adam with the largest recent gradient in place of the second moment.
//   g = clip(rescale·gradient + wd·w)
//   m ← β1·m + (1 − β1)·g;  u ← max(β2·u, |g|)
//   w ← w − lr / (1 − β1^t) · m / u
// A weight whose gradient was 0 from the start becomes NaN, as in MXNet.
// Source: MXNet 1.9.1 optimizer.py, Adamax.
#include "ir/optimizers/define.h"

namespace mxc {
namespace {

struct AdamaxAttrs : OptimizerOptions {
  double beta1 = 0.9, beta2 = 0.999;

  AdamaxAttrs() { learning_rate = 0.002; }
  void Describe(Fields& f) {
    OptimizerOptions::Describe(f);
    f("beta1", beta1).Doc("decay of the mean");
    f("beta2", beta2).Doc("decay of the largest gradient");
  }
};

void UpdateAdamax(const AdamaxAttrs& a, UpdateBuilder& u) {
  const Expr rate = u.Scalar(
      u.LearningRate() / (u.Number(1) - Pow(u.Number(a.beta1), u.Updates())));
  const Expr g = u.DecayedGradient();
  const Expr m = u.RunningMean("mean", a.beta1, g);
  const Expr largest = Max(u.Literal(a.beta2) * u.State("largest"), Abs(g));
  u.SetState("largest", largest);
  u.SetWeight(u.Weight() - rate * m / largest);
}

}  // namespace

MXC_OPTIMIZER_DEFINITION(Adamax) {
  return Opt<AdamaxAttrs>("adamax")
      .Doc("Adam with the largest recent gradient for the second moment")
      .States("(mean, largest)")
      .Update(UpdateAdamax);
}

}  // namespace mxc
