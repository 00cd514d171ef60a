// SPDX-License-Identifier: Apache-2.0
// lamb_update_phase1: the step of lamb before it is scaled, LambStep of formulas.h
// with g = clip(rescale·gradient); with bias_correction the mean is divided by
// 1 − β1^t, and the square by 1 − β2^t.
// Source: MXNet 1.9.1 operator/optimizer_op-inl.h, LambUpdatePhaseOneKernel.
#include "ir/ops/updates/moment_update.h"

namespace mxc {
namespace {

void LambPhaseOne(const LambUpdateAttrs& a, WeightUpdate& u) {
  const Expr g = u.Gradient();
  const auto [mean, square] = MomentsOf(a, g, u);
  const auto corrected = [&](const Expr& moment, double beta) {
    if (!a.bias_correction) return moment;
    const double kept = static_cast<float>(beta);
    return moment / u.Literal(1 - std::pow(kept, static_cast<double>(a.t)));
  };
  u.SetWeight(LambStep(u.Terms(g), corrected(mean, a.beta1),
                       corrected(square, a.beta2), u.Literal(a.epsilon)));
  u.SetState(0, mean);
  u.SetState(1, square);
}

}  // namespace

Op<LambUpdateAttrs> LambPhaseOneOperator(std::string name, WeightCopy copy) {
  return UpdateOperator<LambUpdateAttrs>(std::move(name),
                                         {{"mean", "var"}, copy}, LambPhaseOne);
}

MXC_OP(LambUpdatePhase1) {
  return LambPhaseOneOperator("lamb_update_phase1", WeightCopy::kNone)
      .Doc("the step of lamb before it is scaled");
}

// Phase 2 changes the copy in f32; the step is f32, too.
MXC_OP(MpLambUpdatePhase1) {
  return LambPhaseOneOperator("mp_lamb_update_phase1", WeightCopy::kRead)
      .Doc("lamb_update_phase1 of a weight with a copy in f32");
}

}  // namespace mxc
