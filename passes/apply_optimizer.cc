// SPDX-License-Identifier: Apache-2.0
// apply-optimizer: what differentiate left as the gradient of a parameter
// becomes the parameter's next value, and that of its states.
//
//   update w = gradient   ⇒   update w          = w + m'
//                             update w/momentum = m' = 0.9·m − rate·gradient
//
// Multipliers of learning rate and weight decay: by the rule on names, then the
// annotations __lr_mult__ and __wd_mult__, then the options.
#include <charconv>
#include <set>

#include "ir/ops/nn/sequence/embedding_gradient.h"
#include "ir/ops/operators.h"
#include "ir/ops/tensor/control/collective.h"
#include "ir/optimizers/optimizer.h"
#include "ir/optimizers/update_builder.h"
#include "ir/support/nearest.h"
#include "ir/support/wildcard.h"
#include "passes/gradient_norms.h"
#include "passes/loss_scale.h"
#include "passes/passes.h"
#include "passes/row_gradient.h"
#include "passes/training_graph.h"

namespace mxc {
namespace {

Result<const Optimizer*> NamedOptimizer(const std::string& name) {
  if (const Optimizer* optimizer = FindOptimizer(name)) return optimizer;
  return Error({}, "optimizer '{}' is unknown{}", name,
               NearestNote(NearestOptimizer(name)));
}

Result<AttrsPtr> ParseAttrsOf(const Optimizer& optimizer,
                              const std::vector<AttrText>& texts) {
  std::vector<AttrError> mistakes;
  AttrsPtr attrs = optimizer.parse(texts, mistakes);
  Diagnostics errors;
  for (const AttrError& mistake : mistakes) {
    errors.push_back(
        Error({}, "optimizer '{}': {}", optimizer.name, mistake.message));
  }
  if (!errors.empty()) return errors;
  return attrs;
}

// The annotation as a number; `otherwise` where there is none.
double Annotated(const Node& parameter, const std::string& name,
                 double otherwise, Diagnostics& errors) {
  const std::string* found = parameter.written.Annotation(name);
  if (found == nullptr) return otherwise;
  const std::string& text = *found;
  double value = otherwise;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  if (parsed.ec != std::errc() || parsed.ptr != end) {
    errors.push_back(Error(parameter.loc, "'{}': {} is '{}', expected a number",
                           parameter.name, name, text));
  }
  return value;
}

double ByName(const std::map<std::string, double>& multipliers,
              const std::string& name, double otherwise) {
  const double* found = FindByWildcard(multipliers, name);
  return found == nullptr ? otherwise : *found;
}

// The parameter with its multipliers.
Trained TrainedOf(Node* parameter, Value gradient,
                  const TrainingOptions& options, const Optimizer& optimizer,
                  Diagnostics& errors) {
  const std::string& name = parameter->name;
  const bool decays = !options.decay_by_name || optimizer.decays(name);
  Trained one;
  one.parameter = parameter;
  one.gradient = gradient;
  one.lr_mult = ByName(options.lr_mult, name,
                       Annotated(*parameter, "__lr_mult__", 1, errors));
  one.wd_mult =
      ByName(options.wd_mult, name,
             Annotated(*parameter, "__wd_mult__", decays ? 1 : 0, errors));
  return one;
}

// Takes the gradients out of the graph's updates.
Result<std::vector<Trained>> TakeGradients(Graph& graph,
                                           const TrainingOptions& options,
                                           const Optimizer& optimizer) {
  std::vector<Trained> trained;
  std::vector<Update> others;
  const auto forced = ForcedValues(graph);
  Diagnostics errors;
  for (const Update& update : graph.updates) {
    Node* parameter = update.variable;
    if (parameter->role != VariableRole::kParameter) {
      others.push_back(update);
      continue;
    }
    Trained one = TrainedOf(parameter, update.next, options, optimizer, errors);
    if (const auto found = forced.find(parameter); found != forced.end()) {
      one.forced = found->second;
    }
    trained.push_back(one);
  }
  if (!errors.empty()) return errors;
  graph.updates = std::move(others);
  return trained;
}

// How often data name each row of the parameter, on all devices; empty where all
// rows have a gradient.
Value UsedRows(Graph& graph, const Node& parameter, int replicas) {
  const Value numbers = RowsOf(graph, parameter);
  if (!numbers) return {};
  GraphBuilder builder(graph, parameter);
  const int64_t rows = parameter.types[0].shape[0];
  Extents ones = numbers.shape().dims();
  ones.push_back(1);
  const Value counts = builder.Op<op::EmbeddingGradient>(
      {builder.Ones({DType::kF32, Shape(ones)}), numbers}, {.input_dim = rows},
      "used");
  const Value used = builder.Reshape(counts, Shape{rows});
  if (replicas == 1) return used;
  return CollectiveOf(builder, "all_reduce", {used}, 0)[0];
}

// Under an optimizer that leaves rows alone that have no gradient: those that
// have one. A copy in f32 begins as the parameter in every row, and devices add
// up whole gradients.
void FindRows(Graph& graph, const OptimizerOptions& options, int replicas,
              Trained& trained) {
  const Node& parameter = *trained.parameter;
  const bool whole =
      replicas > 1 || KeepsCopy(options, parameter.types[0].dtype);
  const RowForm form = whole ? RowForm() : RowFormOf(graph, trained.gradient);
  if (!form) {
    trained.used = UsedRows(graph, parameter, replicas);
    return;
  }
  const RowGradient summed = SummedRows(graph, parameter, form);
  trained.rows = summed.rows;
  trained.gradient = summed.gradient;
}

// The names that the optimizer gives to its variables must be free.
Status RequireFreeNames(const Graph& graph) {
  std::set<std::string_view> updated;
  for (const Update& update : graph.updates) {
    updated.insert(update.variable->name);
  }
  // The name of an updated variable and a slash.
  const auto of_updated = [&](std::string_view name) {
    for (size_t at = name.find('/'); at != name.npos;
         at = name.find('/', at + 1)) {
      if (updated.contains(name.substr(0, at))) return true;
    }
    return false;
  };
  Diagnostics errors;
  for (const auto& node : graph.nodes()) {
    if (node->kind != Node::Kind::kVariable) continue;
    const std::string& name = node->name;
    const bool taken = IsOptimizersName(name) || of_updated(name);
    if (!taken) continue;
    errors.push_back(Error(node->loc,
                           "the name '{}' belongs to the optimizer; a network "
                           "that trains cannot use it",
                           name));
  }
  if (!errors.empty()) return errors;
  return Done{};
}

Node* AddGradientInput(Graph& graph, const std::string& of) {
  TensorUse use = {TensorRole::kGradient, of};
  Node* input = graph.AddVariable(NameOf(use));
  input->use = std::move(use);
  return input;
}

}  // namespace

Result<LazyRows> UpdatesLazily(const TrainingOptions& options) {
  MXC_ASSIGN(const Optimizer* optimizer, NamedOptimizer(options.optimizer));
  MXC_ASSIGN(const AttrsPtr attrs,
             ParseAttrsOf(*optimizer, options.optimizer_attrs));
  return optimizer->lazy(attrs.get());
}

Result<Graph> UpdateGraph(const Graph& network, const Node& parameter,
                          const TrainingOptions& options) {
  MXC_ASSIGN(const Optimizer* optimizer, NamedOptimizer(options.optimizer));
  MXC_ASSIGN(const AttrsPtr attrs,
             ParseAttrsOf(*optimizer, options.optimizer_attrs));
  if (optimizer->whole(attrs.get())) {
    return Error({},
                 "'{}' as it is set needs the gradients of all parameters at "
                 "once; here each is updated by itself, as --accumulate and "
                 "jobs with servers do",
                 optimizer->name);
  }
  MXC_RETURN_IF_ERROR(RequireFreeNames(network));
  Graph graph;
  graph.training = graph.stateful = true;
  Node* copy = graph.AddVariable(parameter.name);
  copy->role = VariableRole::kParameter;
  copy->types = parameter.types;
  copy->constant = parameter.constant;
  copy->written = parameter.written;
  copy->loc = parameter.loc;
  Node* gradient = AddGradientInput(graph, parameter.name);
  gradient->types = parameter.types;
  Diagnostics errors;
  Trained trained =
      TrainedOf(copy, gradient->out(), options, *optimizer, errors);
  if (!errors.empty()) return errors;
  const auto forced = ForcedValues(network);
  if (const auto found = forced.find(&parameter); found != forced.end()) {
    trained.forced = found->second;
  }
  AddUpdates(graph, *optimizer, attrs.get(), {&trained, 1}, {});
  return graph;
}

Result<Graph> ScaleUpdateGraph() {
  Graph graph;
  graph.training = graph.stateful = true;
  LossScale scale(graph);
  Node* mark = AddGradientInput(graph, LossScaleName());
  mark->types[0] = {DType::kF32, Shape{1}};
  scale.Finish(mark->out(), {});
  return graph;
}

Result<bool> ApplyOptimizer(Graph& graph, PassContext& context) {
  if (context.training == nullptr || !graph.training ||
      context.training->optimizer.empty()) {
    return false;
  }
  const TrainingOptions& options = *context.training;
  MXC_ASSIGN(const Optimizer* optimizer, NamedOptimizer(options.optimizer));
  MXC_ASSIGN(const AttrsPtr attrs,
             ParseAttrsOf(*optimizer, options.optimizer_attrs));
  MXC_RETURN_IF_ERROR(RequireFreeNames(graph));
  MXC_ASSIGN(std::vector<Trained> trained,
             TakeGradients(graph, options, *optimizer));
  const LazyRows lazy = optimizer->lazy(attrs.get());
  for (Trained& one : trained) {
    if (!UpdatesRows(lazy, *one.parameter)) continue;
    FindRows(graph, optimizer->options(attrs.get()), options.replicas, one);
  }
  if (options.gradient_norms) {
    AddGradientNorms(graph, trained,
                     optimizer->options(attrs.get()).rescale_grad);
  }
  AddUpdates(graph, *optimizer, attrs.get(), trained, GuardOf(graph));
  return true;
}

}  // namespace mxc
