// SPDX-License-Identifier: Apache-2.0
// lars: sgd at a rate of its own for each weight.
//   lr ← lr·η·‖w‖ / (‖rescale·gradient‖ + wd·‖w‖ + ε), unless a norm is 0 or
//   the name ends in gamma, beta or bias; then as sgd
// With momentum_correction, where the rate has changed since the last update of
// any parameter, the momentum is multiplied by their ratio: so the first
// parameter after a change is corrected, and no other.
// Source: MXNet 1.9.1 optimizer.py, LARS. You, Gitman and Ginsburg, arXiv
// 1708.03888.
#include "ir/optimizers/momentum.h"

namespace mxc {
namespace {

struct LarsAttrs : MomentumOptions {
  double eta = 0.001, eps = 0;
  bool momentum_correction = true, lazy_update = true;

  void Describe(Fields& f) {
    MomentumOptions::Describe(f);
    f("eta", eta).Doc("the length of a step, relative to the weight's");
    f("eps", eps).Doc("keeps the divisor from 0");
    f("momentum_correction", momentum_correction)
        .Doc("momentum follows changes of the rate");
    f("lazy_update", lazy_update)
        .Doc("rows that a sparse gradient lacks stay as they are")
        .Hint();
  }
};

Expr LarsRate(const LarsAttrs& a, UpdateBuilder& u) {
  const std::string& name = u.parameter();
  const Expr rate = u.LearningRate();
  if (name.ends_with("gamma") || name.ends_with("beta") ||
      name.ends_with("bias")) {
    return rate;
  }
  const Expr weight = u.Norm(u.Weight(), "norm");
  const Expr gradient =
      u.Norm(u.Literal(u.rescale()) * u.RawGradient(), "grad_norm");
  const Expr zero = u.Number(0);
  const Expr ratio = LarsRatio(u.Number(a.eta), weight, gradient,
                               u.Number(u.wd_number()), u.Number(a.eps));
  return Select(zero < weight && zero < gradient, ratio * rate, rate);
}

Expr LarsMomentum(const LarsAttrs& a, UpdateBuilder& u) {
  if (!a.momentum_correction) return u.Literal(a.momentum);
  const Expr last = u.Shared("last_learning_rate", 0);
  const Expr rate = u.BaseLearningRate(), momentum = u.Number(a.momentum);
  const Expr corrected =
      u.Scalar(Select(last == u.Number(0), momentum, momentum * (rate / last)));
  u.SetShared("last_learning_rate", rate);
  return corrected;
}

void UpdateLars(const LarsAttrs& a, UpdateBuilder& u) {
  const Expr rate = u.Scalar(LarsRate(a, u));
  const UpdateTerms terms = u.Terms(rate, u.Gradient());
  if (a.momentum == 0) return u.SetWeight(u.Weight() - SgdStep(terms));
  const Expr momentum = LarsMomentum(a, u);
  u.SetMoved(SgdMomentum(terms, momentum, u.State("momentum")));
}

}  // namespace

MXC_OPTIMIZER_DEFINITION(Lars) {
  return Opt<LarsAttrs>("lars")
      .Doc("sgd at a rate of its own for each weight")
      .StatesOf([](const LarsAttrs& a) { return a.states(); })
      .Decays([](std::string_view name) { return name.ends_with("_weight"); })
      .CopyFollows()
      .Update(UpdateLars);
}

}  // namespace mxc
