// SPDX-License-Identifier: Apache-2.0
// ftrl: follow the regularised leader; small weights become 0.
//   z ← z + g − (√(n + g²) − √n)·w / lr;  n ← n + g²
//   w ← |z| > λ1 ? (sign(z)·λ1 − z) / ((β + √n) / lr + wd) : 0
// Source: MXNet 1.9.1 optimizer_op-inl.h, FtrlUpdate. McMahan et al., KDD 2013.
#include "ir/optimizers/define.h"

namespace mxc {
namespace {

struct FtrlAttrs : OptimizerOptions {
  double lamda1 = 0.01, beta = 1;

  FtrlAttrs() { learning_rate = 0.1; }
  void Describe(Fields& f) {
    OptimizerOptions::Describe(f);
    f("lamda1", lamda1).Doc("L1 regularisation");
    f("beta", beta).Doc("rates start at lr / beta");
  }
};

void UpdateFtrl(const FtrlAttrs& a, UpdateBuilder& u) {
  const Expr rate = u.Scalar(u.LearningRate());
  const Expr g = u.Gradient(), squares = u.State("n");
  const Expr n = squares + g * g;
  const Expr z =
      u.State("z") + g - (Sqrt(n) - Sqrt(squares)) * u.Weight() / rate;
  u.SetState("z", z);
  u.SetState("n", n);
  const Expr bound = u.Literal(a.lamda1);
  const Expr shrunk =
      (Unary(UnaryOp::kSign, z) * bound - z) /
      ((u.Literal(a.beta) + Sqrt(n)) / rate + u.Literal(u.wd()));
  u.SetWeight(Select(bound < Abs(z), shrunk, u.Literal(0)));
}

}  // namespace

MXC_OPTIMIZER_DEFINITION(Ftrl) {
  return Opt<FtrlAttrs>("ftrl")
      .Doc("follow the regularised leader: small weights become 0")
      .States("(z, n)")
      .Update(UpdateFtrl);
}

}  // namespace mxc
