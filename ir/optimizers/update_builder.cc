// SPDX-License-Identifier: Apache-2.0
#include "ir/optimizers/update_builder.h"

#include <algorithm>

#include "ir/ops/operators.h"
#include "ir/ops/tensor/elementwise/scalar.h"
#include "ir/ops/tensor/sparse/row_map.h"
#include "ir/program/finite.h"

namespace mxc {
namespace {

const TensorType kNumberType = {DType::kF64, Shape{1}};

DType ComputingType(const Node& parameter) {
  return parameter.types[0].dtype == DType::kF64 ? DType::kF64 : DType::kF32;
}

// Over all places of `shape`, of which `element` is one's.
Expr SquaresOver(const Shape& shape, const Expr& element) {
  std::vector<Range> ranges;
  for (const int64_t extent : shape.dims()) {
    ranges.push_back({FreshReductionVar(), Expr(0), Expr(extent)});
  }
  const Expr inner =
      SubstituteVars(element, [&](int var) { return Var(ranges[var].var); });
  return Reduce(ReduceOp::kSum, ranges, inner * inner);
}

}  // namespace

// --- UpdateFrame

UpdateFrame::UpdateFrame(Graph& graph, const OptimizerOptions& options,
                         Value loss, std::span<const Trained> parameters)
    : graph_(graph), parameters_(parameters), loss_(loss) {
  const TensorUse use = {TensorRole::kRate, {}};
  Node* rate = graph.AddVariable(NameOf(use));
  rate->use = use;
  rate->types[0] = kNumberType;
  learning_rate_ = rate->out();
  GraphBuilder builder(graph, *rate);
  const TensorUse updates = {TensorRole::kUpdates, {}};
  updates_ = builder.State(
      NameOf(updates),
      Tensor::Filled({DType::kI64, Shape{1}},
                     static_cast<double>(options.begin_num_update)),
      updates);
}

Value UpdateFrame::squares() {
  if (squares_) return squares_;
  Expr sum = Constant(0, DType::kF64);
  std::vector<Value> parts;
  for (const Trained& trained : parameters_) {
    GraphBuilder builder(graph_, *trained.parameter);
    const Value gradient = trained.gradient;
    const DType computing = ComputingType(*trained.parameter);
    const Expr element = Cast(
        Load(0, gradient.type().dtype, IdentityIndex(gradient.shape().rank())),
        computing);
    const MapOutput output = {{computing, Shape{1}},
                              SquaresOver(gradient.shape(), element)};
    sum = sum + Cast(Load(static_cast<int>(parts.size()), computing, {Expr(0)}),
                     DType::kF64);
    parts.push_back(MapOf(builder, {&gradient, 1}, {&output, 1}, "squares")[0]);
  }
  GraphBuilder builder(graph_, *updates_.node);
  const MapOutput output = {kNumberType, sum};
  return squares_ = MapOf(builder, parts, {&output, 1}, "squares")[0];
}

Value UpdateFrame::begun() {
  const TensorUse use = {TensorRole::kBegun, {}};
  SharedAs(use, {}, 0);
  SharedState& state = shared_.at(NameOf(use));
  if (state.next == state.variable) {
    state.next = GraphBuilder(graph_, *state.variable.node)
                     .Op<op::OnesLike>({state.variable}, "next");
  }
  return state.variable;
}

Value UpdateFrame::Shared(std::string_view name, double initial) {
  return SharedAs({TensorRole::kShared, {}}, name, initial);
}

Value UpdateFrame::SharedAs(TensorUse use, std::string_view what,
                            double initial) {
  const std::string name = NameOf(use, what);
  const auto found = shared_.find(name);
  if (found != shared_.end()) return found->second.next;
  GraphBuilder builder(graph_, *updates_.node);
  const Value variable =
      builder.State(name, Tensor::Filled(kNumberType, initial), std::move(use));
  shared_[name] = {variable, variable};
  return variable;
}

void UpdateFrame::SetShared(std::string_view name, Value next) {
  const auto found = shared_.find(NameOf({TensorRole::kShared, {}}, name));
  MXC_CHECK(found != shared_.end(), "shared state '{}'", name);
  found->second.next = next;
}

void UpdateFrame::Finish() {
  GraphBuilder builder(graph_, *updates_.node);
  const Value counted =
      builder.Op<op::PlusScalar>({updates_}, {.scalar = 1}, "next");
  builder.Update(updates_, Guarded(builder, loss_, counted, updates_));
  for (const auto& [name, state] : shared_) {
    GraphBuilder of_state(graph_, *state.variable.node);
    builder.Update(state.variable,
                   Guarded(of_state, loss_, state.next, state.variable));
  }
}

// --- UpdateBuilder

UpdateBuilder::UpdateBuilder(Graph& graph, UpdateFrame& frame,
                             const Trained& trained,
                             const OptimizerOptions& options)
    : graph_(graph),
      builder_(graph, *trained.parameter),
      frame_(frame),
      trained_(trained),
      options_(options),
      computing_(ComputingType(*trained.parameter)),
      copies_(KeepsCopy(options, trained.parameter->types[0].dtype)) {
  const Value parameter = trained.parameter->out();
  weight_ = Cast(Read(parameter, false), computing_);
  gradient_ = Cast(ReadGradient(), computing_);
  if (trained.forced) weight_ = Literal(*trained.forced);
  if (copies_ && !trained.forced) weight_ = State(kWeightCopy, Start::kWeight);
}

Expr UpdateBuilder::Read(Value value, bool number) {
  auto found = std::ranges::find(operands_, value);
  const auto operand = static_cast<int>(found - operands_.begin());
  if (found == operands_.end()) operands_.push_back(value);
  return Load(operand, value.type().dtype,
              number ? std::vector<Expr>{Expr(0)}
                     : IdentityIndex(value.shape().rank()));
}

// Where only some rows have a gradient, that of a slot: the variable that follows
// the parameter's axes.
Expr UpdateBuilder::ReadGradient() {
  const Expr own = Read(trained_.gradient, false);
  if (!trained_.rows) return own;
  std::vector<Expr> index = own->args;
  index[0] = Var(type().shape.rank());
  return Load(own->index, own->dtype, std::move(index));
}

Expr UpdateBuilder::Clipped(const Expr& element) const {
  if (!clips()) return element;
  return ClippedTo(element, Literal(*options_.clip_gradient));
}

Expr UpdateBuilder::Gradient() const {
  return Clipped(Literal(rescale()) * gradient_);
}

Expr UpdateBuilder::DecayedGradient() const {
  return Clipped(Literal(rescale()) * gradient_ + Literal(wd()) * weight_);
}

Value UpdateBuilder::StateOf(std::string_view name) {
  const auto found = states_.find(name);
  if (found != states_.end()) return found->second;
  const TensorType& own = trained_.parameter->types[0];
  TensorUse use = {TensorRole::kOptimizer, parameter()};
  Node* state = graph_.AddVariable(NameOf(use, name));
  state->use = std::move(use);
  state->role = VariableRole::kState;
  state->types[0] = {copies_ ? computing_ : own.dtype, own.shape};
  return states_[std::string(name)] = state->out();
}

Expr UpdateBuilder::State(std::string_view name, Start start) {
  const Value state = StateOf(name);
  const Expr value = Cast(Read(state, false), computing_);
  if (start == Start::kZeros) return value;
  return Select(Read(frame_.begun(), true) == Number(0), weight_, value);
}

Expr UpdateBuilder::Scalar(const Expr& number) {
  if (number->kind == ExprKind::kConst) return Literal(number->number);
  const MapOutput output = {{computing_, Shape{1}}, number};
  return Read(MapOf(builder_, operands_, {&output, 1}, "scalar")[0], true);
}

Expr UpdateBuilder::BaseLearningRate() {
  return Read(frame_.learning_rate(), true);
}

Expr UpdateBuilder::LearningRate() {
  if (trained_.lr_mult == 1) return BaseLearningRate();
  return BaseLearningRate() * Number(trained_.lr_mult);
}

Expr UpdateBuilder::Updates() {
  return Cast(Read(frame_.updates(), true) + Expr(1), DType::kF64);
}

Expr UpdateBuilder::Shared(std::string_view name, double initial) {
  return Read(frame_.Shared(name, initial), true);
}

void UpdateBuilder::SetShared(std::string_view name, const Expr& number) {
  const MapOutput output = {kNumberType, number};
  frame_.SetShared(name, MapOf(builder_, operands_, {&output, 1}, name)[0]);
}

Expr UpdateBuilder::Normal() {
  return Cast(Read(builder_.Normal(type().shape), false), computing_);
}

Expr UpdateBuilder::SumOfSquares(const Expr& element, std::string_view role) {
  const MapOutput output = {{computing_, Shape{1}},
                            SquaresOver(type().shape, element)};
  const Value sum = MapOf(builder_, operands_, {&output, 1}, role)[0];
  return Cast(Read(sum, true), DType::kF64);
}

// A copy of the parameter begins as the parameter in every row.
Expr UpdateBuilder::Kept(Value variable) {
  const bool copy = copies_ && variable == StateOf(kWeightCopy);
  return copy ? State(kWeightCopy, Start::kWeight) : Read(variable, false);
}

void UpdateBuilder::SetNext(Value variable, const Expr& element) {
  Expr next = Cast(element, variable.type().dtype);
  if (trained_.used) {
    const Expr used = Read(trained_.used, false);
    next = Select(used == Lit(0, used), Kept(variable), next);
  }
  if (!frame_.loss()) {
    next_.push_back({variable, next});
    return;
  }
  const Expr finite = IsFinite(Read(frame_.loss(), true));
  next_.push_back({variable, Select(finite, next, Read(variable, false))});
}

void UpdateBuilder::SetWeight(const Expr& element) {
  if (copies_) SetState(kWeightCopy, element);
  SetNext(trained_.parameter->out(), element);
}

void UpdateBuilder::SetState(std::string_view name, const Expr& element) {
  SetNext(StateOf(name), element);
}

std::vector<Value> UpdateBuilder::NextOfRows() {
  std::vector<RowMapOutput> outputs;
  for (const Next& next : next_) {
    outputs.push_back({Read(next.variable, false)->index, next.value});
  }
  return RowMapOf(builder_, operands_, trained_.rows, outputs, "update");
}

std::vector<Value> UpdateBuilder::NextOfAll() {
  std::vector<MapOutput> outputs;
  for (const Next& next : next_) {
    outputs.push_back({next.variable.type(), next.value});
  }
  return MapOf(builder_, operands_, outputs, "update");
}

void UpdateBuilder::Finish() {
  const std::vector<Value> values = trained_.rows ? NextOfRows() : NextOfAll();
  for (size_t i = 0; i < next_.size(); ++i) {
    builder_.Update(next_[i].variable, values[i]);
  }
}

// --- the whole graph

void AddUpdates(Graph& graph, const Optimizer& optimizer, const void* attrs,
                std::span<const Trained> parameters, Value loss) {
  const OptimizerOptions& options = optimizer.options(attrs);
  UpdateFrame frame(graph, options, loss, parameters);
  for (const Trained& trained : parameters) {
    UpdateBuilder builder(graph, frame, trained, options);
    optimizer.update(attrs, builder);
    builder.Finish();
  }
  frame.Finish();
}

Value Guarded(GraphBuilder& builder, Value loss, Value next, Value now) {
  if (!loss) return next;
  const Value operands[] = {loss, next, now};
  const std::vector<Expr> index = IdentityIndex(now.shape().rank());
  const DType dtype = now.type().dtype;
  const MapOutput output = {
      now.type(), Select(IsFinite(Load(0, loss.type().dtype, {Expr(0)})),
                         Load(1, dtype, index), Load(2, dtype, index))};
  return MapOf(builder, operands, {&output, 1}, "guard")[0];
}

}  // namespace mxc
