// SPDX-License-Identifier: Apache-2.0
// signum_update: steps of one length, SignMomentum of formulas.h with
// g = clip(rescale·gradient).
// Source: MXNet 1.9.1 operator/optimizer_op-inl.h, SignumKernel.
#include "ir/ops/updates/sgd_update.h"

namespace mxc {
namespace {

struct SignumUpdateAttrs : MomentumUpdateAttrs {
  double wd_lh = 0;

  void Describe(Fields& f) {
    MomentumUpdateAttrs::Describe(f);
    f("wd_lh", wd_lh).Doc("weight decay beside the sign");
  }
};

void StepBySignum(const SignumUpdateAttrs& a, WeightUpdate& u) {
  u.SetMoved(SignMomentum(u.Terms(u.Gradient()), static_cast<float>(a.momentum),
                          u.Literal(a.wd_lh), u.State(0)));
}

}  // namespace

MXC_OP(SignumUpdate) {
  return UpdateOperator<SignumUpdateAttrs>("signum_update", {{"mom"}},
                                           StepBySignum)
      .Doc("a step of one length, along the sign of the momentum");
}

}  // namespace mxc
