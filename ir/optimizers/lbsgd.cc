// SPDX-License-Identifier: Apache-2.0
// lbsgd: sgd for large batches. Gradients of batch_scale batches are averaged,
// then a step is made at a rate that warms up:
//   linear, power2, sqrt   from lr to batch_scale·lr in warmup_epochs epochs
//   lars                   lr·√(‖w‖² / (‖g‖² + wd·‖w‖² + 1e-18)), the root
//                          within 0.01 … 100
// Source: MXNet 1.9.1 optimizer.py, LBSGD.
#include "ir/optimizers/momentum.h"

namespace mxc {
namespace {

struct LbsgdAttrs : MomentumOptions {
  std::string warmup_strategy = "linear";
  int64_t warmup_epochs = 5, batch_scale = 1, updates_per_epoch = 32;
  int64_t begin_epoch = 0, num_epochs = 60;

  void Describe(Fields& f) {
    MomentumOptions::Describe(f);
    f("warmup_strategy", warmup_strategy)
        .OneOf({"linear", "power2", "sqrt", "lars"})
        .Doc("how the rate grows");
    f("warmup_epochs", warmup_epochs).Min(0).Doc("for so many epochs");
    f("batch_scale", batch_scale).Min(1).Doc("batches that make one step");
    f("updates_per_epoch", updates_per_epoch).Min(0).Doc("batches");
    f("begin_epoch", begin_epoch).Min(0).Doc("epochs made before");
    f("num_epochs", num_epochs).Doc("epochs in all").Hint();
  }
};

// How many batches there were with this one.
Expr Batches(const LbsgdAttrs& a, UpdateBuilder& u) {
  const int64_t before = a.begin_epoch * a.updates_per_epoch;
  return u.Updates() +
         u.Number(static_cast<double>(before - a.begin_num_update));
}

Expr WarmUp(const LbsgdAttrs& a, UpdateBuilder& u) {
  const auto scale = static_cast<double>(a.batch_scale);
  const auto end = static_cast<double>(a.warmup_epochs * a.updates_per_epoch);
  const Expr one = u.Number(1), batches = Batches(a, u);
  Expr part = batches / u.Number(end);
  if (a.warmup_strategy == "power2") part = part * part;
  if (a.warmup_strategy == "sqrt") part = Sqrt(part);
  const Expr growing = end <= 1 ? one : one + u.Number(scale - 1) * part;
  return Select(batches >= u.Number(end), u.Number(scale), growing);
}

Expr LayerRate(const Expr& gradient, UpdateBuilder& u) {
  const Expr weight = u.SumOfSquares(u.Weight(), "norm");
  const Expr ratio =
      Sqrt(weight / (u.SumOfSquares(gradient, "grad_norm") +
                     u.Number(u.wd_number()) * weight + u.Number(1e-18)));
  return Max(Min(ratio, u.Number(100)), u.Number(0.01));
}

void UpdateLbsgd(const LbsgdAttrs& a, UpdateBuilder& u) {
  Expr gradient = u.RawGradient(), sum, due;
  if (a.batch_scale > 1) {
    const Expr scale = u.Number(static_cast<double>(a.batch_scale));
    const Expr rest = u.Scalar(Batches(a, u) % scale);
    due = rest == u.Literal(0);
    sum = u.State("cum_grad") + gradient;
    gradient = sum / u.Literal(static_cast<double>(a.batch_scale));
  }
  const Expr multiplier =
      a.warmup_strategy == "lars" ? LayerRate(gradient, u) : WarmUp(a, u);
  const Expr rate = u.Scalar(u.LearningRate() * multiplier);
  const Expr w = u.Weight();
  const Expr step = rate * u.Literal(u.wd()) * w +
                    rate * u.Clipped(u.Literal(u.rescale()) * gradient);
  const auto when_due = [&](const Expr& next, const Expr& now) {
    return due ? Select(due, next, now) : next;
  };
  if (due) u.SetState("cum_grad", Select(due, u.Literal(0), sum));
  if (a.momentum == 0) return u.SetWeight(when_due(w - step, w));
  const Expr old = u.State("momentum");
  const Expr m = u.Literal(a.momentum) * old - step;
  u.SetState("momentum", when_due(m, old));
  u.SetWeight(when_due(w + m, w));
}

}  // namespace

MXC_OPTIMIZER_DEFINITION(Lbsgd) {
  return Opt<LbsgdAttrs>("lbsgd")
      .Doc("sgd for large batches, with a rate that warms up")
      .StatesOf([](const LbsgdAttrs& a) { return a.states(); })
      .CopyFollows()
      .Update(UpdateLbsgd);
}

}  // namespace mxc
