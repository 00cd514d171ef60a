// SPDX-License-Identifier: Apache-2.0
// sgd: stochastic gradient descent, with momentum.
//   momentum 0:  w ← (1 − lr·wd)·w − lr·g
//   else         m ← μ·m − lr·wd·w − lr·g;  w ← w + m
// g = clip(rescale·gradient); weight decay is not clipped.
// Source: MXNet 1.9.1 optimizer_op-inl.h, SGDKernel and SGDMomKernel.
#include "ir/optimizers/momentum.h"

namespace mxc {
namespace {

struct SgdAttrs : MomentumOptions {
  bool lazy_update = true;

  void Describe(Fields& f) {
    MomentumOptions::Describe(f);
    f("lazy_update", lazy_update)
        .Doc("rows that a sparse gradient lacks stay as they are");
  }
};

void UpdateSgd(const SgdAttrs& a, UpdateBuilder& u) {
  const Expr rate = u.Scalar(u.LearningRate());
  const UpdateTerms terms = u.Terms(rate, u.Gradient());
  if (a.momentum == 0) return u.SetWeight(u.Weight() - SgdStep(terms));
  u.SetMoved(SgdMomentum(terms, u.Literal(a.momentum), u.State("momentum")));
}

}  // namespace

MXC_OPTIMIZER_DEFINITION(Sgd) {
  return Opt<SgdAttrs>("sgd")
      .Alias({"ccsgd"})
      .Doc("stochastic gradient descent, with momentum")
      .StatesOf([](const SgdAttrs& a) { return a.states(); })
      .CopyFollows()
      .LazyIf(&SgdAttrs::lazy_update)
      .Update(UpdateSgd);
}

}  // namespace mxc
