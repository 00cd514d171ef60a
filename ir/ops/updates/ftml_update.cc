// SPDX-License-Identifier: Apache-2.0
// ftml_update: NextByFtml of formulas.h with g = clip(rescale·gradient + wd·w).
// Source: MXNet 1.9.1 operator/optimizer_op-inl.h, FTMLKernel.
#include "ir/ops/updates/update.h"

namespace mxc {
namespace {

struct FtmlUpdateAttrs : UpdateOptions {
  double beta1 = 0.6, beta2 = 0.999, epsilon = 1e-8;
  int64_t t = 0;

  void Describe(Fields& f) {
    DescribeRate(f);
    f("beta1", beta1).Doc("decay of the leader");
    f("beta2", beta2).Doc("decay of the second moment");
    f("epsilon", epsilon).Doc("keeps the divisor from 0");
    f("t", t).Required().Doc("updates with this one");
    f("rescale_grad", rescale_grad).Doc("multiplies the gradient");
    DescribeClip(f, "clip_grad");
  }
};

void StepByFtml(const FtmlUpdateAttrs& a, WeightUpdate& u) {
  const auto beta1 = static_cast<float>(a.beta1);
  const auto beta2 = static_cast<float>(a.beta2);
  const auto lacking = [&](double beta) {
    return 1 - std::pow(beta, static_cast<double>(a.t));
  };
  const FtmlOptions options = {beta1, beta2, u.Literal(a.epsilon),
                               a.rates_as_inputs
                                   ? u.Literal(lacking(beta1)) / u.Rate()
                                   : u.Literal(lacking(beta1) / a.lr),
                               u.Literal(lacking(beta2))};
  const auto [weight, d, v, z] =
      NextByFtml(u.Terms(u.DecayedGradient()), options,
                 {u.weight(), u.State(0), u.State(1), u.State(2)});
  u.SetWeight(weight);
  u.SetState(0, d);
  u.SetState(1, v);
  u.SetState(2, z);
}

}  // namespace

MXC_OP(FtmlUpdate) {
  return UpdateOperator<FtmlUpdateAttrs>("ftml_update", {{"d", "v", "z"}},
                                         StepByFtml)
      .Doc("the step of following the moving leader");
}

}  // namespace mxc
