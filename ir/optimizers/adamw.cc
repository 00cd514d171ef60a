// SPDX-License-Identifier: Apache-2.0
// adamw: Adam without bias correction, with weight decay of its own.
//   m ← β1·m + (1 − β1)·g;  v ← β2·v + (1 − β2)·g²
//   w ← w − η·(lr·m / (√v + ε) + wd·w)
// Nothing is updated where rescale_grad is 0 or not finite (a loss scale that
// overflowed).
// Source: MXNet 1.9.1 contrib/adamw-inl.h. Loshchilov and Hutter, arXiv
// 1711.05101.
#include <cmath>

#include "ir/optimizers/moments.h"

namespace mxc {
namespace {

struct AdamwAttrs : MomentOptions {
  double eta = 1;

  void Describe(Fields& f) {
    MomentOptions::Describe(f);
    f("eta", eta).Doc("multiplies the step and the weight decay");
  }
};

void UpdateAdamw(const AdamwAttrs& a, UpdateBuilder& u) {
  if (!std::isfinite(a.rescale_grad) || a.rescale_grad == 0) {
    return u.SetWeight(u.Weight());
  }
  const Expr rate = u.Scalar(u.LearningRate());
  const Expr g = u.Gradient();
  const auto [m, v] = UpdateMoments(u.Single(a.beta1), u.Single(a.beta2), g, u);
  u.SetWeight(AdamwWeight(u.Terms(rate, g), u.Literal(a.eta), m, v,
                          u.Literal(a.epsilon)));
}

}  // namespace

MXC_OPTIMIZER_DEFINITION(Adamw) {
  return Opt<AdamwAttrs>("adamw")
      .Alias({"_contrib_adamw_update"})
      .Doc("Adam without bias correction, with weight decay of its own")
      .States("(mean, var)")
      .Update(UpdateAdamw);
}

}  // namespace mxc
