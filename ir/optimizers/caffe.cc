// SPDX-License-Identifier: Apache-2.0
// caffe: the solvers of Caffe, where MXNet's optimizers of these names do
// otherwise (they decay beside the gradient, or add ε below the root).
//   g = rescale·gradient, times clip_gradients / ‖all gradients‖ where that is
//   less than 1; then g + wd·w (L2) or g + wd·sign(w) (L1)
//   SGD       h ← μ·h + lr·g;  w ← w − h
//   Nesterov  h' = μ·h + lr·g;  w ← w − (1 + μ)·h' + μ·h
//   AdaGrad   h ← h + g²;  w ← w − lr·g / (√h + δ)
//   RMSProp   h ← ρ·h + (1 − ρ)·g²;  w ← w − lr·g / (√h + δ)
//   AdaDelta  h ← μ·h + (1 − μ)·g²;  s = g·√((k + δ) / (h + δ))
//             k ← μ·k + (1 − μ)·s²;  w ← w − lr·s
//   Adam      h ← μ·h + (1 − μ)·g;  k ← μ₂·k + (1 − μ₂)·g²
//             w ← w − lr·√(1 − μ₂^t) / (1 − μ^t) · h / (√k + δ)
// Source: src/caffe/solvers/*.cpp of BVLC/caffe.
#include "ir/optimizers/define.h"

namespace mxc {
namespace {

enum class Solver : int {
  kSgd,
  kNesterov,
  kAdagrad,
  kRmsprop,
  kAdadelta,
  kAdam
};
enum class Regularization : int { kL2, kL1 };

struct CaffeAttrs : OptimizerOptions {
  Solver type = Solver::kSgd;
  Regularization regularization = Regularization::kL2;
  double momentum = 0, momentum2 = 0.999, rms_decay = 0.99, delta = 1e-8;
  double clip_gradients = -1;

  void Describe(Fields& f) {
    OptimizerOptions::Describe(f);
    f("type", type)
        .OneOf({"SGD", "Nesterov", "AdaGrad", "RMSProp", "AdaDelta", "Adam"})
        .Doc("Caffe's solver");
    f("regularization", regularization)
        .OneOf({"L2", "L1"})
        .Doc("what wd is a factor of: w, or its sign");
    f("momentum", momentum)
        .Doc("part of the last step, or decay of the first mean");
    f("momentum2", momentum2).Doc("of Adam: decay of the second moment");
    f("rms_decay", rms_decay).Doc("of RMSProp: decay of the mean square");
    f("delta", delta).Doc("keeps divisors from 0");
    f("clip_gradients", clip_gradients)
        .Doc("largest norm of all gradients together; below 0: any");
  }
  bool has_two() const {
    return type == Solver::kAdadelta || type == Solver::kAdam;
  }
  bool clips_all() const { return clip_gradients >= 0; }
};

Expr GradientOf(const CaffeAttrs& a, UpdateBuilder& u) {
  Expr g = u.Gradient();
  if (a.clips_all()) {
    const Expr norm = u.NormOfAll(), most = u.Number(a.clip_gradients);
    g = g * u.Scalar(Select(most < norm, most / norm, u.Number(1)));
  }
  const Expr w = u.Weight();
  const Expr pull =
      a.regularization == Regularization::kL1 ? Unary(UnaryOp::kSign, w) : w;
  return g + u.Literal(u.wd()) * pull;
}

void UpdateCaffe(const CaffeAttrs& a, UpdateBuilder& u) {
  const Expr lr = u.Scalar(u.LearningRate());
  const Expr w = u.Weight(), g = GradientOf(a, u);
  const Expr old = u.State("history"), delta = u.Literal(a.delta);
  const Expr momentum = u.Literal(a.momentum);
  const auto by_root = [&](const Expr& h) {
    u.SetState("history", h);
    u.SetWeight(w - lr * (g / (Sqrt(h) + delta)));
  };
  switch (a.type) {
    case Solver::kSgd:
    case Solver::kNesterov: {
      const Expr h = momentum * old + lr * g;
      u.SetState("history", h);
      if (a.type == Solver::kSgd) return u.SetWeight(w - h);
      return u.SetWeight(w - (u.Literal(1 + a.momentum) * h - momentum * old));
    }
    case Solver::kAdagrad:
      return by_root(old + g * g);
    case Solver::kRmsprop:
      return by_root(RunningMean(a.rms_decay, old, g * g));
    case Solver::kAdadelta: {
      const Expr h = u.RunningMean("history", a.momentum, g * g);
      const Expr steps = u.State("history2");
      const Expr step = g * Sqrt((steps + delta) / (h + delta));
      u.RunningMean("history2", a.momentum, step * step);
      return u.SetWeight(w - lr * step);
    }
    case Solver::kAdam: {
      const Expr t = u.Updates(), one = u.Number(1);
      const Expr rate = u.Scalar(u.LearningRate() *
                                 Sqrt(one - Pow(u.Number(a.momentum2), t)) /
                                 (one - Pow(u.Number(a.momentum), t)));
      const Expr h = u.RunningMean("history", a.momentum, g);
      const Expr k = u.RunningMean("history2", a.momentum2, g * g);
      return u.SetWeight(w - rate * (h / (Sqrt(k) + delta)));
    }
  }
}

}  // namespace

MXC_OPTIMIZER_DEFINITION(Caffe) {
  return Opt<CaffeAttrs>("caffe")
      .Doc("the solvers of Caffe")
      .StatesOf([](const CaffeAttrs& a) {
        return std::string(a.has_two() ? "(history, history2)" : "history");
      })
      .Whole([](const CaffeAttrs& a) { return a.clips_all(); })
      .Update(UpdateCaffe);
}

}  // namespace mxc
