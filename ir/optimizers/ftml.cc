// SPDX-License-Identifier: Apache-2.0
// ftml: follow the moving leader.
// NextByFtml of formulas.h with g = clip(rescale·gradient + wd·w).
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
  // The rate is in the scale.
  const auto next =
      NextByFtml(u.Terms({}, u.DecayedGradient()),
                 {beta1, beta2, u.Literal(a.epsilon), scale, correction},
                 {u.Weight(), u.State("d"), u.State("v"), u.State("z")});
  u.SetState("d", next.d);
  u.SetState("v", next.v);
  u.SetState("z", next.z);
  u.SetWeight(next.weight);
}

}  // namespace

MXC_OPTIMIZER_DEFINITION(Ftml) {
  return Opt<FtmlAttrs>("ftml")
      .Doc("follow the moving leader")
      .States("(d, v, z)")
      .Update(UpdateFtml);
}

}  // namespace mxc
