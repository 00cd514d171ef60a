// SPDX-License-Identifier: Apache-2.0
// adagrad: rates that fall with the sum of squared gradients.
//   h ← h + g²;  w ← w − lr·(g / √(h + ε) + wd·w)
// Rows that a row-sparse gradient lacks stay as they are (_sparse_adagrad_update,
// which refuses wd).
// Source: MXNet 1.9.1 optimizer.py, AdaGrad. Duchi, Hazan and Singer, JMLR 12.
#include "ir/optimizers/define.h"

namespace mxc {
namespace {

struct AdagradAttrs : OptimizerOptions {
  double eps = 1e-7;

  void Describe(Fields& f) {
    OptimizerOptions::Describe(f);
    f("eps", eps).Doc("keeps the divisor from 0");
  }
};

void UpdateAdagrad(const AdagradAttrs& a, UpdateBuilder& u) {
  const Expr rate = u.Scalar(u.LearningRate());
  const Expr w = u.Weight(), g = u.Gradient();
  const Expr h = u.State("history") + g * g;
  u.SetState("history", h);
  u.SetWeight(w -
              rate * (g / Sqrt(h + u.Literal(a.eps)) + u.Literal(u.wd()) * w));
}

}  // namespace

MXC_OPTIMIZER_DEFINITION(Adagrad) {
  return Opt<AdagradAttrs>("adagrad")
      .Doc("rates that fall with the sum of squared gradients")
      .States("history")
      .Lazy(LazyRows::kOfAll)
      .Update(UpdateAdagrad);
}

}  // namespace mxc
