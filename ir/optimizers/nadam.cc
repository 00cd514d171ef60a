// SPDX-License-Identifier: Apache-2.0
// nadam: Adam with Nesterov's momentum.
//   g = clip(rescale·gradient + wd·w);  μ(t) = β1·(1 − ½·0.96^(t·decay))
//   m ← β1·m + (1 − β1)·g;  v ← β2·v + (1 − β2)·g²;  S ← S·μ(t)
//   m̄ = (1 − μ(t))·g / (1 − S) + μ(t+1)·m / (1 − S·μ(t+1))
//   w ← w − lr·m̄ / (√(v / (1 − β2^t)) + ε)
// S is one number for all parameters, multiplied once for each.
// Source: MXNet 1.9.1 optimizer.py, Nadam. Dozat, 2016.
#include "ir/optimizers/moments.h"

namespace mxc {
namespace {

struct NadamAttrs : MomentOptions {
  double schedule_decay = 0.004;

  void Describe(Fields& f) {
    MomentOptions::Describe(f);
    f("schedule_decay", schedule_decay).Doc("how fast momentum grows");
  }

  Expr MomentumAt(const Expr& t) const {
    const auto number = UpdateBuilder::Number;
    return number(beta1) *
           (number(1) -
            number(0.5) * Pow(number(0.96), t * number(schedule_decay)));
  }
};

void UpdateNadam(const NadamAttrs& a, UpdateBuilder& u) {
  const Expr t = u.Updates(), one = u.Number(1);
  const Expr now = a.MomentumAt(t), then = a.MomentumAt(t + one);
  u.SetShared("m_schedule", u.Shared("m_schedule", 1) * now);
  const Expr schedule = u.Shared("m_schedule", 1);
  const Expr of_gradient = u.Scalar((one - now) / (one - schedule));
  const Expr of_mean = u.Scalar(then / (one - schedule * then));
  const Expr correction = u.Scalar(one - Pow(u.Number(a.beta2), t));
  const Expr rate = u.Scalar(u.LearningRate());

  const Expr g = u.DecayedGradient();
  const auto [m, v] = UpdateMoments(a.beta1, a.beta2, g, u);
  u.SetWeight(u.Weight() - rate * (of_gradient * g + of_mean * m) /
                               (Sqrt(v / correction) + u.Literal(a.epsilon)));
}

}  // namespace

MXC_OPTIMIZER_DEFINITION(Nadam) {
  return Opt<NadamAttrs>("nadam")
      .Doc("Adam with Nesterov's momentum")
      .States("(mean, var)")
      .Update(UpdateNadam);
}

}  // namespace mxc
