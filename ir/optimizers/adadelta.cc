// SPDX-License-Identifier: Apache-2.0
// adadelta: steps as large as the recent ones were. The learning rate has no
// effect in MXNet 1.9.1.
//   E ← ρ·E + (1 − ρ)·g²;  δ = √(D + ε) / √(E + ε) · g
//   D ← ρ·D + (1 − ρ)·δ²;  w ← w − (δ + wd·w)
// Source: MXNet 1.9.1 optimizer.py, AdaDelta. Zeiler, arXiv 1212.5701.
#include "ir/optimizers/define.h"

namespace mxc {
namespace {

struct AdadeltaAttrs : OptimizerOptions {
  double rho = 0.9, epsilon = 1e-5;

  void Describe(Fields& f) {
    OptimizerOptions::Describe(f);
    f("rho", rho).Doc("decay of both means");
    f("epsilon", epsilon).Doc("keeps the divisor from 0");
  }
};

void UpdateAdadelta(const AdadeltaAttrs& a, UpdateBuilder& u) {
  const Expr w = u.Weight(), g = u.Gradient();
  const Expr epsilon = u.Literal(a.epsilon);
  const Expr steps = u.State("acc_delta");
  const Expr squares = u.RunningMean("acc_g", a.rho, g * g);
  const Expr delta = Sqrt(steps + epsilon) / Sqrt(squares + epsilon) * g;
  u.RunningMean("acc_delta", a.rho, delta * delta);
  u.SetWeight(w - (delta + u.Literal(u.wd()) * w));
}

}  // namespace

MXC_OPTIMIZER_DEFINITION(Adadelta) {
  return Opt<AdadeltaAttrs>("adadelta")
      .Doc("steps as large as the recent ones were")
      .States("(acc_g, acc_delta)")
      .Update(UpdateAdadelta);
}

}  // namespace mxc
