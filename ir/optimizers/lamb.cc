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

void UpdateLamb(const LambAttrs& a, UpdateBuilder& u) {
  const float beta1 = u.Single(a.beta1), beta2 = u.Single(a.beta2);
  const Expr g = u.Gradient();
  const auto [m, v] = UpdateMoments(beta1, beta2, g, u);
  Expr mean = m, square = v;
  if (a.bias_correction) {
    const Expr t = u.Updates(), one = u.Number(1);
    mean = m / u.Scalar(one - Pow(u.Number(beta1), t));
    square = v / u.Scalar(one - Pow(u.Number(beta2), t));
  }
  // The step has no rate of its own.
  const Expr step =
      LambStep(u.Terms({}, g), mean, square, u.Literal(a.epsilon));
  const Expr norm = u.Norm(u.Weight(), "norm");
  const Expr ratio =
      TrustRatio(norm, u.Norm(step, "step_norm"), a.lower_bound, a.upper_bound);
  u.SetWeight(u.Weight() - u.Scalar(u.LearningRate() * ratio) * step);
}

}  // namespace

MXC_OPTIMIZER_DEFINITION(Lamb) {
  return Opt<LambAttrs>("lamb")
      .Doc("Adam whose step is as large, relative to it, as the weight")
      .States("(mean, var)")
      .Update(UpdateLamb);
}

}  // namespace mxc
