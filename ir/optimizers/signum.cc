// SPDX-License-Identifier: Apache-2.0
// signum: steps of one length, along the sign of the momentum.
//   m ← μ·m − (1 − μ)·(wd·w + g);  w ← (1 − lr·wd_lh)·w + lr·sign(m)
//   momentum 0:  w ← (1 − lr·wd)·w − lr·sign(gradient)
// Source: MXNet 1.9.1 optimizer_op-inl.h, SignumKernel and SignSGDKernel.
#include "ir/optimizers/define.h"

namespace mxc {
namespace {

struct SignumAttrs : OptimizerOptions {
  double momentum = 0.9;
  double wd_lh = 0;

  void Describe(Fields& f) {
    OptimizerOptions::Describe(f);
    f("momentum", momentum).Doc("what part of the last mean is kept");
    f("wd_lh", wd_lh).Doc("weight decay beside the sign");
  }
};

void UpdateSignum(const SignumAttrs& a, UpdateBuilder& u) {
  const Expr rate = u.Scalar(u.LearningRate());
  const Expr w = u.Weight(), wd = u.Literal(u.wd()), one = u.Literal(1);
  if (a.momentum == 0) {
    const Expr sign = Unary(UnaryOp::kSign, u.RawGradient());
    return u.SetWeight((one - rate * wd) * w - rate * sign);
  }
  const float momentum = u.Single(a.momentum);
  const Expr m = u.Literal(momentum) * u.State("momentum") -
                 u.Literal(1 - momentum) * (wd * w + u.Gradient());
  u.SetState("momentum", m);
  u.SetWeight((one - rate * u.Literal(a.wd_lh)) * w +
              rate * Unary(UnaryOp::kSign, m));
}

}  // namespace

MXC_OPTIMIZER_DEFINITION(Signum) {
  return Opt<SignumAttrs>("signum")
      .Doc("steps of one length along the sign of the momentum")
      .StatesOf([](const SignumAttrs& a) {
        return a.momentum == 0 ? "None" : "momentum";
      })
      .Update(UpdateSignum);
}

}  // namespace mxc
