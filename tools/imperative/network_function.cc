// SPDX-License-Identifier: Apache-2.0
#include "tools/imperative/network_function.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "frontend/frontend.h"
#include "frontend/network_source.h"
#include "ir/graph/copy.h"
#include "ir/graph/supported.h"
#include "tools/imperative/function_graph.h"

namespace mxc {
namespace {

namespace rt = runtime;

bool IsAuxiliary(const Node* variable) {
  return variable->role == VariableRole::kState;
}

// Variables in MXNet's order, auxiliary states last.
std::vector<Node*> InputsOf(const Graph& graph) {
  std::vector<Node*> inputs;
  for (Node* node : graph.TopologicalOrder()) {
    if (node->kind == Node::Kind::kVariable) inputs.push_back(node);
  }
  std::ranges::stable_sort(inputs, {}, IsAuxiliary);
  return inputs;
}

void SetTypes(std::span<const TensorType> types,
              std::span<Node* const> inputs) {
  for (size_t i = 0; i < types.size(); ++i) {
    TensorType& type = inputs[i]->types[0];
    if (types[i].shape.known_rank()) type.shape = types[i].shape;
    if (types[i].dtype != DType::kUnknown) type.dtype = types[i].dtype;
  }
}

// Makes the network a function of its variables.
class Conversion {
 public:
  Conversion(Graph& network, std::span<Node* const> inputs)
      : network_(network), inputs_(inputs) {}

  FunctionGraph Run() {
    FindUpdates();
    Graph& graph = function_.graph;
    graph.name = network_.name;
    graph.training = network_.training;
    graph.written = network_.written;
    std::unordered_map<const Node*, Value> variables;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      Node* const input =
          FunctionGraph::AddInput(graph, i, inputs_[i]->types[0]);
      variables.emplace(inputs_[i], input->out());
    }
    ValueCopier copier(graph, [&](Value from) {
      const auto found = variables.find(from.node);
      return found == variables.end() ? Value() : found->second;
    });
    for (const Value& output : network_.outputs) {
      function_.Add(copier.Copy(output));
    }
    function_.visible = network_.outputs.size();
    for (const size_t input : function_.updates) {
      function_.Add(copier.Copy(next_.at(inputs_[input])));
    }
    return std::move(function_);
  }

 private:
  // What the states are after the operators that change them, one after the
  // other.
  void FindUpdates() {
    for (Node* node : network_.TopologicalOrder()) {
      if (node->NextStates() == 0) continue;
      const std::vector<InputSpec> specs = node->op->inputs(node->attrs.get());
      int output = static_cast<int>(node->types.size()) - node->NextStates();
      for (size_t i = 0; i < specs.size() && i < node->inputs.size(); ++i) {
        if (specs[i].kind != InputKind::kState) continue;
        const Value next = node->out(output++);
        const Node* const variable = node->inputs[i].node;
        if (variable->kind != Node::Kind::kVariable) continue;
        const auto [now, first] = next_.try_emplace(variable, next);
        if (!first) node->inputs[i] = std::exchange(now->second, next);
      }
    }
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (next_.contains(inputs_[i])) function_.updates.push_back(i);
    }
  }

  Graph& network_;
  const std::span<Node* const> inputs_;
  std::unordered_map<const Node*, Value> next_;  // of variables
  FunctionGraph function_;
};

class NetworkCompiler final : public FunctionCompiler {
 public:
  explicit NetworkCompiler(std::shared_ptr<const NetworkFunction> network)
      : FunctionCompiler("graph"), network_(std::move(network)) {}

 private:
  Result<FunctionGraph> Build(std::span<const rt::ArrayType> inputs,
                              bool training) const override {
    std::vector<TensorType> types;
    for (const rt::ArrayType& input : inputs) {
      types.push_back(TensorTypeOf(input));
    }
    MXC_ASSIGN(auto typed, network_->Typed(types, training));
    return Conversion(typed.first, typed.second).Run();
  }

  const std::shared_ptr<const NetworkFunction> network_;
};

}  // namespace

Result<std::shared_ptr<const NetworkFunction>> NetworkFunction::Read(
    std::string text) {
  const std::shared_ptr<NetworkFunction> network(new NetworkFunction);
  auto source = std::make_shared<const SourceFile>(
      SourceFile{"symbol.json", std::move(text)});
  MXC_ASSIGN(
      network->file_,
      OpenNetwork(std::make_shared<const NetworkSource>(std::move(source))));
  MXC_ASSIGN(const auto built, network->Build());
  for (const Node* input : built.second) {
    auto& names =
        IsAuxiliary(input) ? network->auxiliary_ : network->arguments_;
    names.push_back(input->name);
  }
  network->outputs_ = built.first.output_names;
  return std::shared_ptr<const NetworkFunction>(network);
}

Result<std::pair<Graph, std::vector<Node*>>> NetworkFunction::Build() const {
  const std::lock_guard lock(mutex_);
  Diagnostics notes;
  MXC_ASSIGN(Graph graph, file_->Build({}, notes));
  std::vector<Node*> inputs = InputsOf(graph);
  return std::pair(std::move(graph), std::move(inputs));
}

Result<std::vector<TensorType>> NetworkFunction::Infer(
    std::vector<TensorType>& inputs, bool partial) const {
  MXC_ASSIGN(auto built, Build());
  auto& [graph, variables] = built;
  SetTypes(inputs, variables);
  MXC_RETURN_IF_ERROR(InferTypes(graph, false));
  if (ExpandSubgraphs(graph).ok()) {
    MXC_RETURN_IF_ERROR(InferTypes(graph, !partial));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    inputs[i] = variables[i]->types[0];
  }
  std::vector<TensorType> outputs;
  for (const Value& output : graph.outputs) outputs.push_back(output.type());
  return outputs;
}

Result<std::pair<Graph, std::vector<Node*>>> NetworkFunction::Typed(
    std::span<const TensorType> inputs, bool training) const {
  if (inputs.size() != arguments_.size() + auxiliary_.size()) {
    return Error({},
                 "{} inputs are given, expected {} arguments and {} "
                 "auxiliary states",
                 inputs.size(), arguments_.size(), auxiliary_.size());
  }
  MXC_ASSIGN(auto built, Build());
  auto& [graph, variables] = built;
  graph.training = training;
  SetTypes(inputs, variables);
  for (Node* variable : variables) {
    variable->role = VariableRole::kInput;
    variable->declared = true;
  }
  MXC_RETURN_IF_ERROR(InferTypes(graph, false));
  MXC_RETURN_IF_ERROR(ExpandSubgraphs(graph));
  MXC_RETURN_IF_ERROR(RequireSupported(graph));
  MXC_RETURN_IF_ERROR(InferTypes(graph, true));
  return built;
}

std::shared_ptr<rt::CallableOperator> CallableOf(
    std::shared_ptr<const NetworkFunction> network) {
  return std::make_shared<rt::CallableOperator>(
      "graph", std::make_unique<NetworkCompiler>(std::move(network)));
}

}  // namespace mxc
