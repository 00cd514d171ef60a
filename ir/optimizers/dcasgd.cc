// SPDX-License-Identifier: Apache-2.0
// dcasgd: sgd that allows for the delay of a gradient.
//   Δ = μ·Δ − lr·(g + wd·w + λ·g²·(w − w_before));  w_before ← w;  w ← w + Δ
// Source: MXNet 1.9.1 optimizer.py, DCASGD (whose momentum fails for weights of
// more than one element: a Python error). Zheng et al., arXiv 1609.08326.
#include "ir/optimizers/momentum.h"

namespace mxc {
namespace {

struct DcasgdAttrs : MomentumOptions {
  double lamda = 0.04;

  void Describe(Fields& f) {
    MomentumOptions::Describe(f);
    f("lamda", lamda).Doc("how much the delay is allowed for");
  }
};

void UpdateDcasgd(const DcasgdAttrs& a, UpdateBuilder& u) {
  const Expr rate = u.Scalar(u.LearningRate());
  const Expr w = u.Weight(), g = u.Gradient();
  const Expr before = u.State("previous_weight", UpdateBuilder::Start::kWeight);
  Expr step = -rate * (g + u.Literal(u.wd()) * w +
                       u.Literal(a.lamda) * g * g * (w - before));
  if (a.momentum != 0) {
    step = u.Literal(a.momentum) * u.State("momentum") + step;
    u.SetState("momentum", step);
  }
  u.SetState("previous_weight", w);
  u.SetWeight(w + step);
}

}  // namespace

MXC_OPTIMIZER_DEFINITION(Dcasgd) {
  return Opt<DcasgdAttrs>("dcasgd")
      .Doc("sgd that allows for the delay of a gradient")
      .StatesOf([](const DcasgdAttrs& a) {
        return a.momentum == 0 ? "(None, previous_weight)"
                               : "(momentum, previous_weight)";
      })
      .Update(UpdateDcasgd);
}

}  // namespace mxc
