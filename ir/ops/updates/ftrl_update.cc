// SPDX-License-Identifier: Apache-2.0
// ftrl_update: NextByFtrl of formulas.h with g = clip(rescale·gradient).
// Source: MXNet 1.9.1 operator/optimizer_op-inl.h, FtrlUpdate.
#include "ir/ops/updates/update.h"

namespace mxc {
namespace {

struct FtrlUpdateAttrs : UpdateOptions {
  double lamda1 = 0.01, beta = 1;

  void Describe(Fields& f) {
    DescribeRate(f);
    f("lamda1", lamda1).Doc("L1 regularisation");
    f("beta", beta).Doc("rates start at lr / beta");
    DescribeGradient(f);
  }
};

void StepByFtrl(const FtrlUpdateAttrs& a, WeightUpdate& u) {
  const auto [weight, z, n] =
      NextByFtrl(u.Terms(u.Gradient()), u.Literal(a.lamda1), u.Literal(a.beta),
                 u.State(0), u.State(1));
  u.SetWeight(weight);
  u.SetState(0, z);
  u.SetState(1, n);
}

}  // namespace

MXC_OP(FtrlUpdate) {
  return UpdateOperator<FtrlUpdateAttrs>("ftrl_update", {{"z", "n"}},
                                         StepByFtrl)
      .Doc("the step of following the regularised leader");
}

}  // namespace mxc
