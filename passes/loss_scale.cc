// SPDX-License-Identifier: Apache-2.0
#include "passes/loss_scale.h"

#include <vector>

#include "ir/ops/operators.h"
#include "ir/ops/tensor/control/map.h"
#include "ir/ops/tensor/elementwise/add_n.h"
#include "ir/program/finite.h"

namespace mxc {
namespace {

constexpr double kFirst = 0x1p16, kLeast = 1, kMost = 0x1p24;
constexpr double kGoodRuns = 2000;

const TensorType kNumber = {DType::kF32, Shape{1}};

Expr Single(double value) { return Constant(value, DType::kF32); }
Expr NumberOf(int operand) { return Load(operand, DType::kF32, {Expr(0)}); }

// The element of operand 0 of an elementwise map.
Expr ElementOf(const TensorType& type) {
  std::vector<Expr> index;
  for (int axis = 0; axis < type.shape.rank(); ++axis) {
    index.push_back(Var(axis));
  }
  return Load(0, type.dtype, index);
}

const TensorUse kScaleUse = {TensorRole::kLossScale, {}};

Value ScaleState(Graph& graph, const std::string& name, double initial) {
  Node* node = graph.AddVariable(name);
  node->role = VariableRole::kState;
  node->types[0] = kNumber;
  node->constant = Tensor::Filled(kNumber, initial);
  return node->out();
}

}  // namespace

std::string LossScaleName() { return NameOf(kScaleUse); }

std::string GoodRunsName() { return NameOf(kScaleUse, "_good_runs"); }

LossScale::LossScale(Graph& graph)
    : graph_(graph),
      builder_(graph, *ScaleState(graph, LossScaleName(), kFirst).node),
      scale_{graph.FindVariable(LossScaleName()), 0},
      good_(ScaleState(graph, GoodRunsName(), 0)) {
  scale_.node->use = kScaleUse;
}

Value LossScale::Unscaled(const Node& parameter, Value gradient) const {
  GraphBuilder builder(graph_, parameter);
  const Value operands[] = {gradient, scale_};
  const TensorType& type = gradient.type();
  const Expr factor = Cast(Single(1) / NumberOf(1), type.dtype);
  const MapOutput output = {type, ElementOf(type) * factor};
  return MapOf(builder, operands, {&output, 1}, "unscaled")[0];
}

// 0, or NaN: the sum of x − x.
Value LossScale::NotFinite(Value gradient) const {
  GraphBuilder builder(graph_, *gradient.node);
  const TensorType& type = gradient.type();
  std::vector<Range> ranges;
  for (const int64_t extent : type.shape.dims()) {
    ranges.push_back({FreshReductionVar(), Expr(0), Expr(extent)});
  }
  const Expr element = SubstituteVars(
      ElementOf(type), [&](int var) { return Var(ranges[var].var); });
  const Expr zero = Cast(element - element, DType::kF32);
  const MapOutput output = {kNumber, Reduce(ReduceOp::kSum, ranges, zero)};
  return MapOf(builder, {&gradient, 1}, {&output, 1}, "not_finite")[0];
}

Value LossScale::Mark(Value loss, std::span<const Value> gradients) {
  std::vector<Value> terms;
  for (const Value& gradient : gradients) terms.push_back(NotFinite(gradient));
  if (loss) terms.push_back(loss);
  if (terms.size() < 2) return terms.empty() ? Value() : terms[0];
  return builder_.Op<op::AddN>(terms, {.num_args = std::ssize(terms)}, "guard");
}

void LossScale::Finish(Value mark, Value loss) {
  if (!mark) return;
  // The mark is read first: there GuardOf finds it. A loss that is not finite
  // is not for a smaller scale to mend: nothing changes then.
  const Value operands[] = {mark, scale_, good_, loss ? loss : mark};
  const Expr scale = NumberOf(1), good = NumberOf(2) + Single(1);
  const Expr finite = IsFinite(NumberOf(0)), grows = good >= Single(kGoodRuns);
  const auto next = [&](const Expr& grown, const Expr& kept, const Expr& shrunk,
                        const Expr& now) {
    const Expr wrong =
        loss ? Select(IsFinite(NumberOf(3)), shrunk, now) : shrunk;
    return Select(finite, Select(grows, grown, kept), wrong);
  };
  const MapOutput outputs[] = {
      {kNumber, next(Min(scale * Single(2), Single(kMost)), scale,
                     Max(scale * Single(0.5), Single(kLeast)), scale)},
      {kNumber, next(Single(0), good, Single(0), NumberOf(2))}};
  const std::vector<Value> values = MapOf(builder_, operands, outputs, "next");
  builder_.Update(scale_, values[0]);
  builder_.Update(good_, values[1]);
}

Value GuardOf(const Graph& graph) {
  for (const Update& update : graph.updates) {
    if (update.variable->use == kScaleUse) {
      return update.next.node->inputs[0];
    }
  }
  return graph.OutputOf(TensorRole::kLoss);
}

}  // namespace mxc
