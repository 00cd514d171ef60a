// SPDX-License-Identifier: Apache-2.0
// sgld: gradient descent that draws from the posterior of the weights.
//   w ← w − lr/2·(g + wd·w) + n;  n normal with mean 0 and variance lr
// Source: MXNet 1.9.1 optimizer.py, SGLD. Welling and Teh, ICML 2011.
#include "ir/optimizers/define.h"

namespace mxc {
namespace {

void UpdateSgld(const OptimizerOptions&, UpdateBuilder& u) {
  const Expr half = u.Scalar(u.LearningRate() / u.Number(2));
  const Expr spread = u.Scalar(Sqrt(u.LearningRate()));
  const Expr w = u.Weight();
  u.SetWeight(w - half * (u.Gradient() + u.Literal(u.wd()) * w) +
              spread * u.Normal());
}

}  // namespace

MXC_OPTIMIZER_DEFINITION(Sgld) {
  return Opt<OptimizerOptions>("sgld")
      .Doc("gradient descent that draws from the posterior of the weights")
      .Update(UpdateSgld);
}

}  // namespace mxc
