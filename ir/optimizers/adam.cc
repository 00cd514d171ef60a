// SPDX-License-Identifier: Apache-2.0
// adam: steps along the mean gradient over the root of its second moment.
//   g = clip(rescale·gradient + wd·w)
//   m ← β1·m + (1 − β1)·g;  v ← β2·v + (1 − β2)·g²
//   w ← w − lr·√(1 − β2^t) / (1 − β1^t) · m / (√v + ε)
// Source: MXNet 1.9.1 optimizer.py, Adam; optimizer_op-inl.h, AdamUpdateKernel.
// Kingma and Ba, arXiv 1412.6980.
#include "ir/optimizers/moments.h"

namespace mxc {
namespace {

struct AdamAttrs : MomentOptions {
  bool lazy_update = true;

  void Describe(Fields& f) {
    MomentOptions::Describe(f);
    f("lazy_update", lazy_update)
        .Doc("rows that a sparse gradient lacks stay as they are");
  }
};

void UpdateAdam(const AdamAttrs& a, UpdateBuilder& u) {
  const Expr t = u.Updates(), one = u.Number(1);
  const Expr rate =
      u.Scalar(u.LearningRate() * Sqrt(one - Pow(u.Number(a.beta2), t)) /
               (one - Pow(u.Number(a.beta1), t)));
  const Expr g = u.DecayedGradient();
  const auto [m, v] = UpdateMoments(u.Single(a.beta1), u.Single(a.beta2), g, u);
  u.SetWeight(AdamWeight(u.Terms(rate, g), m, v, u.Literal(a.epsilon)));
}

}  // namespace

MXC_OPTIMIZER_DEFINITION(Adam) {
  return Opt<AdamAttrs>("adam")
      .Doc("steps along the mean gradient over the root of its second moment")
      .States("(mean, var)")
      .LazyIf(&AdamAttrs::lazy_update)
      .Update(UpdateAdam);
}

}  // namespace mxc
