// SPDX-License-Identifier: Apache-2.0
// lamb: Adam whose step is as large, relative to it, as the weight.
//   m ← β1·m + (1 − β1)·g;  v ← β2·v + (1 − β2)·g²
//   s = m̂ / (√v̂ + ε) + wd·w, where m̂ and v̂ are corrected for their bias
//   w ← w − lr·r·s;  r = ‖w‖ / ‖s‖, ‖w‖ within bounds; 1 if either is 0
// Source: MXNet 1.9.1 optimizer_op-inl.h, LambUpdatePhaseOne and -Two. You et
// al., arXiv 1904.00962.
#include "ir/optimizers/moments.h"

namespace mxc {
namespace {

struct LambAttrs : MomentOptions {
  std::optional<double> lower_bound, upper_bound;
  bool bias_correction = true;

  LambAttrs() { epsilon = 1e-6; }
  void Describe(Fields& f) {
    MomentOptions::Describe(f);
    f("lower_bound", lower_bound).Doc("the least norm of a weight");
    f("upper_bound", upper_bound).Doc("the greatest norm of a weight");
    f("bias_correction", bias_correction)
        .Doc("moments are divided by what they lack at first");
  }
};

// ‖w‖ / ‖step‖
Expr TrustRatio(const LambAttrs& a, const Expr& step, UpdateBuilder& u) {
  Expr weight = u.Norm(u.Weight(), "norm");
  if (a.lower_bound) weight = Max(weight, u.Number(*a.lower_bound));
  if (a.upper_bound) weight = Min(weight, u.Number(*a.upper_bound));
  const Expr length = u.Norm(step, "step_norm");
  const Expr zero = u.Number(0);
  return Select(weight == zero || length == zero, u.Number(1), weight / length);
}

void UpdateLamb(const LambAttrs& a, UpdateBuilder& u) {
  const float beta1 = u.Single(a.beta1), beta2 = u.Single(a.beta2);
  const Expr w = u.Weight();
  const auto [m, v] = UpdateMoments(beta1, beta2, u.Gradient(), u);
  Expr mean = m, square = v;
  if (a.bias_correction) {
    const Expr t = u.Updates(), one = u.Number(1);
    mean = m / u.Scalar(one - Pow(u.Number(beta1), t));
    square = v / u.Scalar(one - Pow(u.Number(beta2), t));
  }
  const Expr step =
      mean / (Sqrt(square) + u.Literal(a.epsilon)) + u.Literal(u.wd()) * w;
  const Expr rate = u.Scalar(u.LearningRate() * TrustRatio(a, step, u));
  u.SetWeight(w - rate * step);
}

}  // namespace

MXC_OPTIMIZER_DEFINITION(Lamb) {
  return Opt<LambAttrs>("lamb")
      .Doc("Adam whose step is as large, relative to it, as the weight")
      .States("(mean, var)")
      .Update(UpdateLamb);
}

}  // namespace mxc
