// SPDX-License-Identifier: Apache-2.0
// signum: steps of one length, along the sign of the momentum.
// SignMomentum of formulas.h; with momentum 0 SignSgdWeight, of the gradient as it
// is.
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
  if (a.momentum == 0) {
    return u.SetWeight(SignSgdWeight(u.Terms(rate, u.RawGradient())));
  }
  u.SetMoved(SignMomentum(u.Terms(rate, u.Gradient()), u.Single(a.momentum),
                          u.Literal(a.wd_lh), u.State("momentum")));
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
