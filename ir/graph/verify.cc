// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <unordered_set>

#include "ir/graph/graph.h"

namespace mxc {
namespace {

using MaybeError = std::optional<std::string>;

MaybeError CheckNode(const Graph& graph, const Node& node,
                     const std::unordered_set<const Node*>& before) {
  for (const Value& input : node.inputs) {
    if (!before.contains(input.node)) return "an input comes later: a cycle";
    if (input.index < 0 ||
        input.index >= static_cast<int>(input.node->types.size())) {
      return fmt::format("reads output {} of '{}', which has {}", input.index,
                         input.node->name, input.node->types.size());
    }
  }
  if (node.kind == Node::Kind::kConstant &&
      (node.constant.empty() || node.constant.type() != node.types[0])) {
    return "its tensor is not of its type";
  }
  if (node.kind != Node::Kind::kOperator) return std::nullopt;
  for (const TensorType& type : node.types) {
    if (!type.known()) return "its type is unknown";
  }
  if (!node.op->types) return std::nullopt;
  std::vector<TensorType> inputs, outputs = node.types;
  for (const Value& input : node.inputs) inputs.push_back(input.type());
  TypeInference inference(inputs, outputs, graph.training);
  node.op->types(node.attrs.get(), inference);
  return inference.error();
}

MaybeError CheckUpdates(const Graph& graph) {
  std::unordered_set<const Node*> updated;
  for (const Update& update : graph.updates) {
    const Node* variable = update.variable;
    if (variable->kind != Node::Kind::kVariable ||
        variable->role == VariableRole::kInput) {
      return fmt::format("updates '{}', which is no state", variable->name);
    }
    if (!updated.insert(variable).second) {
      return fmt::format("updates '{}' twice", variable->name);
    }
    if (update.next.type() != variable->types[0]) {
      return fmt::format("updates '{}' of type {} with {}", variable->name,
                         ToString(variable->types[0]),
                         ToString(update.next.type()));
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> Verify(const Graph& graph) {
  std::unordered_set<const Node*> owned, before;
  for (const auto& node : graph.nodes()) owned.insert(node.get());
  for (const Value& output : graph.outputs) {
    if (!owned.contains(output.node)) return "an output is not in the graph";
  }
  for (const Node* node : graph.TopologicalOrder()) {
    if (!owned.contains(node)) return "a node is not in the graph";
    if (auto error = CheckNode(graph, *node, before)) {
      return fmt::format("{} '{}': {}", node->op_name, node->name, *error);
    }
    before.insert(node);
  }
  return CheckUpdates(graph);
}

}  // namespace mxc
