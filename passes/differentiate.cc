// SPDX-License-Identifier: Apache-2.0
// differentiate: a network becomes a step of its training.
//
//   x, w ─► FullyConnected ─► SoftmaxOutput ─► y
//   ⇒  the same, and
//      loss          the sum of what the loss heads report
//      update w      with the heads' gradient, of which apply-optimizer makes
//                    the next value
//      update moving with what BatchNorm says that it is next
// and, where what flows back is kept in f16, the scale of the loss. Where several
// devices train together, gradients are summed over them; of the loss and of the
// moving values they take the means.
//
// Where the graph does not train (scoring) only the loss is added. A variable
// whose next value several operators state goes through them in order.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "ir/graph/builder.h"
#include "ir/graph/gradient.h"
#include "ir/ops/tensor/control/collective.h"
#include "ir/ops/tensor/sparse/row_forms.h"
#include "ir/support/wildcard.h"
#include "passes/loss_scale.h"
#include "passes/passes.h"
#include "passes/row_gradient.h"
#include "passes/training_graph.h"

namespace mxc {
namespace {

class Differentiation {
 public:
  Differentiation(Graph& graph, const PassContext& context)
      : graph_(graph),
        options_(*context.training),
        notes_(context.notes),
        scales_(context.storage == DType::kF16 && graph.training),
        forward_(graph.TopologicalOrder()) {}

  Status Run() {
    graph_.stateful = true;
    MXC_RETURN_IF_ERROR(RequireLossHead());
    MXC_RETURN_IF_ERROR(RequireNames());
    const std::vector<Value> heads = graph_.outputs;
    AddLoss();
    if (!graph_.training) return Done{};
    return AddUpdates(heads);
  }

 private:
  Status RequireLossHead() const {
    if (std::ranges::any_of(forward_,
                            [](const Node* n) { return n->IsLossHead(); })) {
      return Done{};
    }
    std::vector<std::string> heads;
    for (const Operator* op : AllOperators()) {
      if (op->loss_head && !op->internal) heads.push_back(op->name);
    }
    Diagnostic error = Error(
        graph_.outputs.empty() ? SourceLoc{} : graph_.outputs[0].node->loc,
        "the network has no loss head, so there is nothing to train");
    error.notes = {
        fmt::format("loss heads are {}", fmt::join(heads, ", ")),
        "--loss softmax_cross_entropy gives it one, or another loss"};
    return error;
  }

  // Every parameter that the options name must be there.
  Status RequireNames() const {
    Diagnostics errors;
    const std::vector<Node*> parameters =
        graph_.Variables(VariableRole::kParameter);
    const auto require = [&](const std::string& name) {
      const bool names_one =
          std::ranges::any_of(parameters, [&](const Node* parameter) {
            return MatchesWildcard(name, parameter->name);
          });
      if (names_one) return;
      errors.push_back(Error({}, "the network has no parameter '{}'", name));
    };
    for (const std::string& name : options_.fixed) require(name);
    for (const auto& [name, multiplier] : options_.lr_mult) require(name);
    for (const auto& [name, multiplier] : options_.wd_mult) require(name);
    for (const std::string& name : {LossScaleName(), GoodRunsName()}) {
      if (!scales_ || !graph_.FindVariable(name)) continue;
      errors.push_back(Error({},
                             "the name '{}' belongs to training in f16; the "
                             "network cannot use it",
                             name));
    }
    if (!errors.empty()) return errors;
    return Done{};
  }

  void AddLoss() {
    Value total;
    for (const Node* node : forward_) {
      if (!node->IsLossHead() || !node->op->loss) continue;
      GraphBuilder builder(graph_, *node);
      const Value loss = node->op->loss(node->attrs.get(), *node, builder);
      total = total ? builder.Add(total, loss) : loss;
    }
    if (total) graph_.AddOutput(total, {TensorRole::kLoss, {}});
  }

  bool IsFixed(const std::string& name) const {
    return MatchesAny(options_.fixed, name);
  }

  std::vector<Value> Trained() const {
    std::vector<Value> trained;
    for (Node* node : forward_) {
      const bool parameter = node->kind == Node::Kind::kVariable &&
                             node->role == VariableRole::kParameter;
      if (!parameter || IsFixed(node->name)) continue;
      if (IsFloat(node->types[0].dtype)) trained.push_back(node->out());
    }
    return trained;
  }

  Status AddUpdates(const std::vector<Value>& outputs) {
    std::vector<HeadGradient> heads;
    for (const Value& output : outputs) heads.push_back({output, {}});
    const std::vector<Value> trained = Trained();
    std::optional<LossScale> scale;
    if (scales_) scale.emplace(graph_);
    MXC_ASSIGN(
        std::vector<Value> gradients,
        Gradients(graph_, heads, trained, scale ? scale->value() : Value()));
    auto [variables, next] = NextStates();
    if (options_.replicas > 1) ShareAmongDevices(gradients, next);
    if (scale) Unscale(*scale, trained, gradients);
    const auto forced = ForcedValues(graph_);
    for (size_t i = 0; i < trained.size(); ++i) {
      const Node& parameter = *trained[i].node;
      if (!gradients[i] && forced.contains(&parameter)) {
        gradients[i] =
            GraphBuilder(graph_, parameter).Zeros(parameter.types[0]);
      }
      if (gradients[i]) {
        AddGradient(trained[i], gradients[i]);
      } else if (notes_ != nullptr) {
        notes_->push_back(Error(parameter.loc,
                                "no gradient reaches parameter '{}', which "
                                "stays as it is",
                                parameter.name));
      }
    }
    for (size_t i = 0; i < variables.size(); ++i) {
      graph_.updates.push_back({variables[i], next[i]});
    }
    return Done{};
  }

  void Unscale(LossScale& scale, const std::vector<Value>& trained,
               std::vector<Value>& gradients) {
    std::vector<Value> arrived;
    for (size_t i = 0; i < trained.size(); ++i) {
      if (!gradients[i]) continue;
      gradients[i] = scale.Unscaled(*trained[i].node, gradients[i]);
      arrived.push_back(gradients[i]);
    }
    const Value loss = graph_.OutputOf(TensorRole::kLoss);
    const Value mark = scale.Mark(loss, arrived);
    if (!options_.optimizer.empty()) return scale.Finish(mark, loss);
    if (mark) {
      graph_.AddOutput(mark, {TensorRole::kGradient, LossScaleName()});
    }
  }

  // All devices have the sums of the gradients and, of the loss and of what the
  // network keeps, the means; what counts is the same everywhere. So they agree
  // on whether to update, and on what is learned.
  void ShareAmongDevices(std::vector<Value>& gradients,
                         std::vector<Value>& next) {
    const Value loss = graph_.OutputOf(TensorRole::kLoss);
    std::vector<Value> shared = gradients;
    shared.push_back(loss);
    for (const Value& value : next) {
      shared.push_back(IsFloat(value.type().dtype) ? value : Value());
    }
    SumOverDevices(shared);
    std::copy_n(shared.begin(), gradients.size(), gradients.begin());
    const auto mean_of = [&](Value sum) {
      return GraphBuilder(graph_, *sum.node).Mul(sum, 1.0 / options_.replicas);
    };
    const auto means = std::span(shared).subspan(gradients.size());
    if (loss) std::ranges::replace(graph_.outputs, loss, mean_of(means[0]));
    for (size_t i = 0; i < next.size(); ++i) {
      if (means[1 + i]) next[i] = mean_of(means[1 + i]);
    }
  }

  // By one step for each element type. Empty values stay empty.
  void SumOverDevices(std::vector<Value>& values) {
    std::map<DType, std::vector<Value*>> by_type;
    for (Value& value : values) {
      if (value) by_type[value.type().dtype].push_back(&value);
    }
    for (const auto& [dtype, summed] : by_type) {
      std::vector<Value> inputs;
      for (const Value* value : summed) inputs.push_back(*value);
      GraphBuilder builder(graph_, *inputs[0].node);
      const std::vector<Value> sums =
          CollectiveOf(builder, "all_reduce", inputs, 0);
      for (size_t i = 0; i < summed.size(); ++i) *summed[i] = sums[i];
    }
  }

  // The rows that are handed out of a table's gradient; nothing of others.
  RowGradient RowsOfGradient(const Node& parameter, Value gradient) {
    if (!UpdatesRows(options_.names_rows, parameter)) return {};
    if (const RowForm form = RowFormOf(graph_, gradient)) {
      return SummedRows(graph_, parameter, form);
    }
    const Value data = RowsOf(graph_, parameter);
    if (!data) return {};
    GraphBuilder builder(graph_, parameter);
    return PickedRows(graph_, parameter, gradient,
                      RowNumbers(builder, data, parameter.types[0].shape[0]));
  }

  void AddGradient(Value parameter, Value gradient) {
    if (options_.optimizer.empty()) {
      const std::string& name = parameter.node->name;
      const RowGradient rows = RowsOfGradient(*parameter.node, gradient);
      graph_.AddOutput(rows.rows ? rows.gradient : gradient,
                       {TensorRole::kGradient, name});
      if (rows.rows) graph_.AddOutput(rows.rows, {TensorRole::kRows, name});
    } else {
      graph_.updates.push_back({parameter.node, gradient});
    }
  }

  // The variables that operators change, and what they hold after the step.
  std::pair<std::vector<Node*>, std::vector<Value>> NextStates() {
    std::map<int, Value> now;  // by variable: after the operators so far
    std::vector<Node*> variables;
    for (Node* node : forward_) {
      if (node->NextStates() == 0) continue;
      const std::vector<InputSpec> specs = node->op->inputs(node->attrs.get());
      int output = static_cast<int>(node->types.size()) - node->NextStates();
      for (size_t i = 0; i < specs.size() && i < node->inputs.size(); ++i) {
        if (specs[i].kind != InputKind::kState) continue;
        const Value next = node->out(output++);
        Node* variable = node->inputs[i].node;
        if (variable->kind != Node::Kind::kVariable ||
            variable->role == VariableRole::kInput) {
          continue;
        }
        const auto [entry, first] = now.try_emplace(variable->id(), next);
        if (first) {
          variables.push_back(variable);
        } else {
          node->inputs[i] = std::exchange(entry->second, next);
        }
      }
    }
    std::vector<Value> next;
    for (Node* variable : variables) next.push_back(now.at(variable->id()));
    return {std::move(variables), std::move(next)};
  }

  Graph& graph_;
  const TrainingOptions& options_;
  Diagnostics* const notes_;
  const bool scales_;  // what flows back, for it is kept in f16
  const std::vector<Node*> forward_;
};

}  // namespace

Result<bool> Differentiate(Graph& graph, PassContext& context) {
  if (context.training == nullptr) return false;
  MXC_RETURN_IF_ERROR(Differentiation(graph, context).Run());
  return true;
}

}  // namespace mxc
