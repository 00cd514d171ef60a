// SPDX-License-Identifier: Apache-2.0
#include "ir/graph/copy.h"

#include <utility>
#include <vector>

namespace mxc {
namespace {

Node* MakeLike(const Node& from, Graph& to) {
  switch (from.kind) {
    case Node::Kind::kVariable:
      return to.AddVariable(from.name);
    case Node::Kind::kConstant:
      return to.AddConstant(from.name, from.constant);
    case Node::Kind::kOperator:
      return to.AddOperator(from.op, from.name, from.attrs, {});
    case Node::Kind::kOpaque:
      break;
  }
  return to.AddOpaque(from.op_name, from.name, {},
                      static_cast<int>(from.types.size()));
}

// A node like one of another graph, without inputs.
Node* AddCopy(const Node& from, Graph& to) {
  Node* const node = MakeLike(from, to);
  node->types = from.types;
  node->role = from.role;
  node->use = from.use;
  node->declared = from.declared;
  node->constant = from.constant;
  node->op_name = from.op_name;
  node->why_unknown = from.why_unknown;
  node->written = from.written;
  node->origins = from.origins;
  node->part = from.part;
  node->backward = from.backward;
  node->loc = from.loc;
  node->attr_locs = from.attr_locs;
  return node;
}

}  // namespace

Graph CopyOf(const Graph& graph) {
  Graph copy;
  std::unordered_map<const Node*, Node*> copies;
  for (const auto& node : graph.nodes()) {
    copies.emplace(node.get(), AddCopy(*node, copy));
  }
  const auto of = [&](Value value) {
    return Value{copies.at(value.node), value.index};
  };
  for (const auto& node : graph.nodes()) {
    std::vector<Value>& inputs = copies.at(node.get())->inputs;
    for (const Value& input : node->inputs) inputs.push_back(of(input));
  }
  copy.name = graph.name;
  for (const Value& output : graph.outputs) copy.outputs.push_back(of(output));
  copy.output_names = graph.output_names;
  copy.output_uses = graph.output_uses;
  for (const Update& update : graph.updates) {
    copy.updates.push_back({copies.at(update.variable), of(update.next)});
  }
  copy.training = graph.training;
  copy.stateful = graph.stateful;
  copy.written = graph.written;
  return copy;
}

bool ValueCopier::IsKnown(Value from) {
  if (known_.contains(from)) return true;
  const Value other = stand_in_(from);
  if (other) known_.emplace(from, other);
  return static_cast<bool>(other);
}

Value ValueCopier::Copy(Value from) {
  std::vector<std::pair<Node*, size_t>> stack;  // node, next input to copy
  if (!IsKnown(from)) stack.emplace_back(from.node, 0);
  while (!stack.empty()) {
    auto& [node, next] = stack.back();
    if (next < node->inputs.size()) {
      const Value input = node->inputs[next++];
      if (!IsKnown(input)) stack.emplace_back(input.node, 0);
      continue;
    }
    Node* const copied = AddCopy(*node, to_);
    for (const Value& input : node->inputs) {
      copied->inputs.push_back(known_.at(input));
    }
    for (int i = 0; i < static_cast<int>(node->types.size()); ++i) {
      known_.emplace(node->out(i), copied->out(i));
    }
    stack.pop_back();
  }
  return known_.at(from);
}

}  // namespace mxc
