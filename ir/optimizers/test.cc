// SPDX-License-Identifier: Apache-2.0
// test: w ← w + rescale·gradient, and a state that is the weight. MXNet's own
// tests of key-value stores use it.
// Source: MXNet 1.9.1 optimizer.py, Test.
#include "ir/optimizers/define.h"

namespace mxc {
namespace {

void UpdateTest(const OptimizerOptions&, UpdateBuilder& u) {
  const Expr next = u.Weight() + u.Literal(u.rescale()) * u.RawGradient();
  u.SetState("weight", next);
  u.SetWeight(next);
}

}  // namespace

MXC_OPTIMIZER_DEFINITION(Test) {
  return Opt<OptimizerOptions>("test")
      .Doc("adds gradients: for tests")
      .States("weight")
      .Update(UpdateTest);
}

}  // namespace mxc
