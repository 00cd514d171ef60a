// SPDX-License-Identifier: Apache-2.0
// ftml: follow the moving leader.
//   g = clip(rescale·gradient + wd·w);  v ← β2·v + (1 − β2)·g²
//   d' = (1 − β1^t) / lr · (√(v / (1 − β2^t)) + ε)
//   z ← β1·z + (1 − β1)·g − (d' − β1·d)·w;  d ← d';  w ← −z / d'
// Source: MXNet 1.9.1 optimizer_op-inl.h, FTMLKernel. Zheng and Kwok, ICML
// 2017.
#include "ir/optimizers/define.h"

namespace mxc {
namespace {

struct FtmlAttrs : OptimizerOptions {
  double beta1 = 0.6, beta2 = 0.999, epsilon = 1e-8;

  void Describe(Fields& f) {
    OptimizerOptions::Describe(f);
    f("beta1", beta1).Doc("decay of the leader");
    f("beta2", beta2).Doc("decay of the second moment");
    f("epsilon", epsilon).Doc("keeps the divisor from 0");
  }
};

void UpdateFtml(const FtmlAttrs& a, UpdateBuilder& u) {
  const float beta1 = u.Single(a.beta1), beta2 = u.Single(a.beta2);
  const Expr t = u.Updates(), one = u.Number(1);
  const Expr scale =
      u.Scalar((one - Pow(u.Number(beta1), t)) / u.LearningRate());
  const Expr correction = u.Scalar(one - Pow(u.Number(beta2), t));
  const Expr old = u.Literal(beta1), w = u.Weight(), g = u.DecayedGradient();
  const Expr v = u.RunningMean("v", beta2, g * g);
  const Expr d = scale * (Sqrt(v / correction) + u.Literal(a.epsilon));
  const Expr z = old * u.State("z") + u.Literal(1 - beta1) * g -
                 (d - old * u.State("d")) * w;
  u.SetState("d", d);
  u.SetState("z", z);
  u.SetWeight(-z / d);
}

}  // namespace

MXC_OPTIMIZER_DEFINITION(Ftml) {
  return Opt<FtmlAttrs>("ftml")
      .Doc("follow the moving leader")
      .States("(d, v, z)")
      .Update(UpdateFtml);
}

}  // namespace mxc
