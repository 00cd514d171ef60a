// SPDX-License-Identifier: Apache-2.0
// rmsprop: gradients over the root of their recent mean square.
//   g = clip(rescale·gradient + wd·w)
//   n ← (1 − γ1)·g² + γ1·n;  w ← w − lr·g / √(n + ε)
//   centered:  a ← (1 − γ1)·g + γ1·a
//              Δ ← γ2·Δ − lr·g / √(n − a² + ε);  w ← w + Δ
// Then w is limited to ±clip_weights, if it is set.
// Source: MXNet 1.9.1 optimizer_op-inl.h, RMSPropUpdate, RMSPropAlexUpdate.
#include "ir/optimizers/define.h"

namespace mxc {
namespace {

struct RmspropAttrs : OptimizerOptions {
  double gamma1 = 0.9, gamma2 = 0.9, epsilon = 1e-8;
  bool centered = false;
  std::optional<double> clip_weights;

  RmspropAttrs() { learning_rate = 0.001; }
  void Describe(Fields& f) {
    OptimizerOptions::Describe(f);
    f("gamma1", gamma1).Doc("decay of the mean square");
    f("gamma2", gamma2).Doc("what part of the last step is made again");
    f("epsilon", epsilon).Doc("keeps the divisor from 0");
    f("centered", centered).Doc("the variance instead of the mean square");
    f("clip_weights", clip_weights).Doc("limits weights to ±this");
  }
};

void UpdateRmsprop(const RmspropAttrs& a, UpdateBuilder& u) {
  const Expr rate = u.Scalar(u.LearningRate());
  const float gamma1 = u.Single(a.gamma1);
  const Expr old = u.Literal(gamma1), fresh = u.Literal(1 - gamma1);
  const Expr epsilon = u.Literal(a.epsilon), g = u.DecayedGradient();
  const Expr n = fresh * (g * g) + old * u.State("n");
  u.SetState("n", n);
  Expr next;
  if (a.centered) {
    const Expr mean = fresh * g + old * u.State("g");
    const Expr delta = u.Literal(a.gamma2) * u.State("delta") -
                       rate * g / Sqrt(n - mean * mean + epsilon);
    u.SetState("g", mean);
    u.SetState("delta", delta);
    next = u.Weight() + delta;
  } else {
    next = u.Weight() - rate * g / Sqrt(n + epsilon);
  }
  if (a.clip_weights && *a.clip_weights > 0) {
    const Expr limit = u.Literal(*a.clip_weights);
    next = Max(Min(next, limit), -limit);
  }
  u.SetWeight(next);
}

}  // namespace

MXC_OPTIMIZER_DEFINITION(Rmsprop) {
  return Opt<RmspropAttrs>("rmsprop")
      .Doc("gradients over the root of their recent mean square")
      .StatesOf([](const RmspropAttrs& a) {
        return a.centered ? "(n, g, delta)" : "(n,)";
      })
      .Update(UpdateRmsprop);
}

}  // namespace mxc
