// SPDX-License-Identifier: Apache-2.0
// rmsprop: gradients over the root of their recent mean square.
//   g = clip(rescale·gradient + wd·w)
//   NextByRmsprop of formulas.h; centered: NextByCentredRmsprop
// Then w is limited to ±clip_weights, if it is set.
// Source: MXNet 1.9.1 optimizer_op-inl.h, RMSPropUpdate, RMSPropAlexUpdate.
#include "ir/optimizers/define.h"

namespace mxc {
namespace {

struct RmspropAttrs : OptimizerOptions {
  double gamma1 = 0.9, gamma2 = 0.9, epsilon = 1e-8;
  bool centered = false;
  std::optional<double> clip_weights;

  RmspropAttrs() { learning_rate = 0.001; }
  void Describe(Fields& f) {
    OptimizerOptions::Describe(f);
    f("gamma1", gamma1).Doc("decay of the mean square");
    f("gamma2", gamma2).Doc("what part of the last step is made again");
    f("epsilon", epsilon).Doc("keeps the divisor from 0");
    f("centered", centered).Doc("the variance instead of the mean square");
    f("clip_weights", clip_weights).Doc("limits weights to ±this");
  }
};

void UpdateRmsprop(const RmspropAttrs& a, UpdateBuilder& u) {
  const Expr rate = u.Scalar(u.LearningRate());
  const float gamma1 = u.Single(a.gamma1);
  const Expr epsilon = u.Literal(a.epsilon);
  const UpdateTerms terms = u.Terms(rate, u.DecayedGradient());
  Expr weight;
  if (a.centered) {
    const auto next = NextByCentredRmsprop(
        terms, gamma1, u.Literal(a.gamma2), epsilon,
        {u.Weight(), u.State("n"), u.State("g"), u.State("delta")});
    u.SetState("n", next.n);
    u.SetState("g", next.mean);
    u.SetState("delta", next.delta);
    weight = next.weight;
  } else {
    const auto next = NextByRmsprop(terms, gamma1, epsilon, u.State("n"));
    u.SetState("n", next.n);
    weight = next.weight;
  }
  if (a.clip_weights && *a.clip_weights > 0) {
    weight = ClippedTo(weight, u.Literal(*a.clip_weights));
  }
  u.SetWeight(weight);
}

}  // namespace

MXC_OPTIMIZER_DEFINITION(Rmsprop) {
  return Opt<RmspropAttrs>("rmsprop")
      .Doc("gradients over the root of their recent mean square")
      .StatesOf([](const RmspropAttrs& a) {
        return a.centered ? "(n, g, delta)" : "(n,)";
      })
      .Update(UpdateRmsprop);
}

}  // namespace mxc
