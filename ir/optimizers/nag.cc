// SPDX-License-Identifier: Apache-2.0
// nag: Nesterov's accelerated gradient.
//   momentum 0:  as sgd
//   else         NagMomentum of formulas.h
// Source: MXNet 1.9.1 optimizer_op-inl.h, NAGMomKernel, which writes the weight
// before it reads it again.
#include "ir/optimizers/momentum.h"

namespace mxc {
namespace {

void UpdateNag(const MomentumOptions& a, UpdateBuilder& u) {
  const Expr rate = u.Scalar(u.LearningRate());
  const UpdateTerms terms = u.Terms(rate, u.Gradient());
  if (a.momentum == 0) return u.SetWeight(u.Weight() - SgdStep(terms));
  u.SetMoved(NagMomentum(terms, u.Single(a.momentum), u.State("momentum"),
                         Written::kOver));
}

}  // namespace

MXC_OPTIMIZER_DEFINITION(Nag) {
  return Opt<MomentumOptions>("nag")
      .Doc("Nesterov's accelerated gradient")
      .StatesOf([](const MomentumOptions& a) { return a.states(); })
      .CopyFollows()
      .Update(UpdateNag);
}

}  // namespace mxc
