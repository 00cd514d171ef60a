// SPDX-License-Identifier: Apache-2.0
// _sparse_adagrad_update: rates that fall with the sum of squared gradients.
//   g = clip(rescale·gradient);  h ← h + g²;  w ← w − lr·g / √(h + ε)
// What a row-sparse gradient lacks are zeros, which change nothing.
// C1  wd is 0
#include <optional>
#include <string>

#include "ir/ops/updates/update.h"

namespace mxc {
namespace {

struct SparseAdagradUpdateAttrs : UpdateOptions {
  double epsilon = 1e-7;

  void Describe(Fields& f) {
    DescribeRate(f);
    f("epsilon", epsilon).Doc("keeps the divisor from 0");
    DescribeGradient(f);
  }
};

std::optional<std::string> CheckSparseAdagrad(
    const SparseAdagradUpdateAttrs& a) {
  if (a.wd == 0) return std::nullopt;
  return fmt::format("C1: wd is {}, expected 0", a.wd);
}

void StepBySparseAdagrad(const SparseAdagradUpdateAttrs& a, WeightUpdate& u) {
  const Expr g = u.Gradient();
  const Expr h = u.State(0) + g * g;
  u.SetState(0, h);
  u.SetWeight(u.weight() - u.Rate() * g / Sqrt(h + u.Literal(a.epsilon)));
}

}  // namespace

MXC_OP(SparseAdagradUpdate) {
  return UpdateOperator<SparseAdagradUpdateAttrs>(
             "_sparse_adagrad_update", {{"history"}}, StepBySparseAdagrad)
      .Check(CheckSparseAdagrad)
      .Doc("the step of adagrad, of rows where the gradient has rows");
}

}  // namespace mxc
