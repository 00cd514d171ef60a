// SPDX-License-Identifier: Apache-2.0
// ftrl: follow the regularised leader; small weights become 0.
// NextByFtrl of formulas.h.
// Rows that a row-sparse gradient lacks stay as they are where the weight is
// row-sparse, too; of a dense one MXNet updates all.
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
  const Expr n = u.State("n"), z = u.State("z");
  const auto next = NextByFtrl(u.Terms(rate, u.Gradient()), u.Literal(a.lamda1),
                               u.Literal(a.beta), z, n);
  u.SetState("z", next.z);
  u.SetState("n", next.n);
  u.SetWeight(next.weight);
}

}  // namespace

MXC_OPTIMIZER_DEFINITION(Ftrl) {
  return Opt<FtrlAttrs>("ftrl")
      .Doc("follow the regularised leader: small weights become 0")
      .States("(z, n)")
      .Lazy(LazyRows::kOfSparseWeights)
      .Update(UpdateFtrl);
}

}  // namespace mxc
