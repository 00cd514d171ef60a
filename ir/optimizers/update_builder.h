// SPDX-License-Identifier: Apache-2.0
// What an update rule is written with. It states, in kernel IR, one element of
// the parameter's next value and of each state's; all of them become one step,
// so that a parameter is passed over once.
//
//   void UpdateSgd(const SgdAttrs& a, UpdateBuilder& u) {
//     const Expr rate = u.Scalar(u.LearningRate());
//     u.SetWeight(u.Weight() - rate * u.DecayedGradient());
//   }
//
// There are two kinds of expressions. Elements are of the computing type (f64
// for f64 parameters, else f32) and differ from place to place. Numbers are
// f64, one for the whole parameter; `Scalar` rounds one to an element, as
// MXNet does when Python hands it to a kernel.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph/builder.h"
#include "ir/ops/tensor/control/map.h"
#include "ir/ops/updates/formulas.h"
#include "ir/optimizers/optimizer.h"
#include "ir/program/expr.h"

namespace mxc {

// One parameter that is to be updated.
struct Trained {
  Node* parameter = nullptr;
  Value gradient;  // of the parameter's type; with `rows`, of those
  double lr_mult = 1, wd_mult = 1;
  // What all elements of the parameter count as, whatever they are.
  std::optional<double> forced;
  // f32[rows], 0 for rows that stay as they are, and their states; empty: all
  // are updated.
  Value used;
  // i64[slots], the rows that are updated, each once, where the others stay as
  // they are, and their states; negative: none. Empty: all are updated.
  Value rows;
};

// What the updates of one graph have in common.
class UpdateFrame {
 public:
  // `loss`: f32[1], empty where none is known, or what else is not finite where
  // nothing is to be updated.
  UpdateFrame(Graph& graph, const OptimizerOptions& options, Value loss,
              std::span<const Trained> parameters);

  Value learning_rate() const { return learning_rate_; }
  Value loss() const { return loss_; }
  Value updates() const { return updates_; }  // i64[1]: made before this one

  // f64[1]: the sum of the squares of all gradients.
  Value squares();

  // The state of role kBegun: 0 until the first update, or until
  // somebody brings states along, then 1.
  Value begun();

  // See UpdateBuilder::Shared.
  Value Shared(std::string_view name, double initial);
  void SetShared(std::string_view name, Value next);

  // Adds the updates of the counter and of what is shared.
  void Finish();

 private:
  struct SharedState {
    Value variable, next;
  };

  Value SharedAs(TensorUse use, std::string_view what, double initial);

  Graph& graph_;
  const std::span<const Trained> parameters_;
  Value learning_rate_, loss_, updates_, squares_;
  std::map<std::string, SharedState> shared_;  // by the state's name
};

class UpdateBuilder {
 public:
  UpdateBuilder(Graph& graph, UpdateFrame& frame, const Trained& trained,
                const OptimizerOptions& options);

  const std::string& parameter() const { return trained_.parameter->name; }

  // --- elements
  Expr Weight() const { return weight_; }
  Expr RawGradient() const { return gradient_; }
  // clip(rescale · gradient)
  Expr Gradient() const;
  // clip(rescale · gradient + wd · weight)
  Expr DecayedGradient() const;
  // A formula's terms, at `rate`, of a gradient.
  UpdateTerms Terms(const Expr& rate, const Expr& gradient) const {
    return {weight_, gradient, rate, Literal(wd())};
  }
  // To ±clip_gradient, if it is set.
  Expr Clipped(const Expr& element) const;
  // The state `<parameter>/<name>`, of the parameter's shape and the computing
  // type (of the parameter's own type if that is narrower and there is no
  // multi_precision). It starts as zeros, or as what the parameter is when it
  // is updated first.
  enum class Start { kZeros, kWeight };
  Expr State(std::string_view name, Start start = Start::kZeros);
  // decay · state + (1 − decay) · element, which also becomes the state's next
  // value. `Real`: float where MXNet's kernel subtracts, double where Python.
  template <class Real>
  Expr RunningMean(std::string_view name, Real decay, const Expr& element) {
    const Expr next = mxc::RunningMean(decay, State(name), element);
    SetState(name, next);
    return next;
  }
  // Random, of mean 0 and variance 1.
  Expr Normal();
  Expr Literal(double value) const { return Constant(value, computing_); }
  Expr Scalar(const Expr& number);

  // --- hyper-parameters, as MXNet's kernels know them: rounded to f32
  static float Single(double value) { return static_cast<float>(value); }
  float wd() const { return Single(options_.wd * trained_.wd_mult); }
  float rescale() const { return Single(options_.rescale_grad); }
  double wd_number() const { return options_.wd * trained_.wd_mult; }
  bool clips() const {
    return options_.clip_gradient && *options_.clip_gradient > 0;
  }

  // --- numbers
  static Expr Number(double value) { return Constant(value, DType::kF64); }
  Expr LearningRate();  // times the parameter's multiplier
  Expr BaseLearningRate();
  // How many updates there are with this one: begin_num_update + 1 at first.
  Expr Updates();
  // The state `optimizer/<name>`, f64[1], that all parameters share: what the
  // parameter before this one made of it; at first `initial`.
  Expr Shared(std::string_view name, double initial);
  void SetShared(std::string_view name, const Expr& number);
  // The norm of all parameters' gradients together, rescaled.
  Expr NormOfAll() {
    return Sqrt(Read(frame_.squares(), true)) * Number(rescale());
  }
  // Σ element² over the parameter, and its root.
  Expr SumOfSquares(const Expr& element, std::string_view role);
  Expr Norm(const Expr& element, std::string_view role) {
    return Sqrt(SumOfSquares(element, role));
  }

  // --- results, each once
  void SetWeight(const Expr& element);
  void SetState(std::string_view name, const Expr& element);
  // The weight, and the state "momentum".
  void SetMoved(const MovedWeight& next) {
    SetState("momentum", next.momentum);
    SetWeight(next.weight);
  }
  // Adds the step, and the updates that it makes, to the graph.
  void Finish();

 private:
  struct Next {
    Value variable;
    Expr value;
  };

  Expr Read(Value value, bool number);  // at the element's index, or at 0
  Expr ReadGradient();
  const TensorType& type() const { return trained_.parameter->types[0]; }
  Value StateOf(std::string_view name);  // makes it at first
  void SetNext(Value variable, const Expr& element);
  Expr Kept(Value variable);  // where the row stays as it is
  std::vector<Value> NextOfRows();
  std::vector<Value> NextOfAll();

  Graph& graph_;
  GraphBuilder builder_;
  UpdateFrame& frame_;
  const Trained& trained_;
  const OptimizerOptions& options_;
  const DType computing_;
  const bool copies_;
  std::vector<Value> operands_;  // what the expressions' Loads count
  std::map<std::string, Value, std::less<>> states_;
  std::vector<Next> next_;
  Expr weight_, gradient_;
};

// Adds to the graph the update of every parameter: Graph::updates gets each
// parameter's next value, that of its states and of the shared ones. The
// learning rate is the graph's input `learning_rate`, f64[1].
void AddUpdates(Graph& graph, const Optimizer& optimizer, const void* attrs,
                std::span<const Trained> parameters, Value loss);

// next where the loss is finite, else now: for updates that no optimizer makes.
// Without a loss, next.
Value Guarded(GraphBuilder& builder, Value loss, Value next, Value now);

}  // namespace mxc
