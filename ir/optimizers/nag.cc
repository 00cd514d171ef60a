// SPDX-License-Identifier: Apache-2.0
// nag: Nesterov's accelerated gradient.
//   momentum 0:  as sgd
//   else         m ← μ·m;  w ← w − m + (μ + 1)·(m − lr·(g + wd·w))
//                m ← m − lr·(g + wd·w), by which time w is the next weight
// Source: MXNet 1.9.1 optimizer_op-inl.h, NAGMomKernel, which writes the weight
// before it reads it again.
#include "ir/optimizers/momentum.h"

namespace mxc {
namespace {

void UpdateNag(const MomentumOptions& a, UpdateBuilder& u) {
  const Expr rate = u.Scalar(u.LearningRate());
  const Expr w = u.Weight(), wd = u.Literal(u.wd()), g = u.Gradient();
  if (a.momentum == 0) return u.SetWeight(w - rate * (wd * w + g));
  const float momentum = u.Single(a.momentum);
  const Expr m = u.Literal(momentum) * u.State("momentum");
  const Expr next = w - m + u.Literal(momentum + 1) * (m - rate * (g + wd * w));
  u.SetWeight(next);
  u.SetState("momentum", m - rate * (g + wd * next));
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
