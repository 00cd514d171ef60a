// SPDX-License-Identifier: Apache-2.0
#include "ir/graph/graph.h"

#include <algorithm>
#include <utility>

#include "ir/graph/output_names.h"

namespace mxc {

std::string Node::OutputName(int index) const {
  return OutputNamer().NameOf({const_cast<Node*>(this), index});
}

Node* Graph::Add(Node::Kind kind, std::string name) {
  auto node = std::make_unique<Node>();
  node->kind = kind;
  node->name = std::move(name);
  node->id_ = next_id_++;
  nodes_.push_back(std::move(node));
  return nodes_.back().get();
}

Node* Graph::AddVariable(std::string name) {
  Node* node = Add(Node::Kind::kVariable, std::move(name));
  node->types.resize(1);
  variables_[node->name].push_back(node);
  return node;
}

void Graph::AddOutput(Value value, TensorUse use) {
  output_uses.resize(outputs.size());
  outputs.push_back(value);
  output_names.push_back(NameOf(use));
  output_uses.push_back(std::move(use));
}

TensorUse Graph::OutputUse(size_t output) const {
  return output < output_uses.size() ? output_uses[output] : TensorUse();
}

Value Graph::OutputOf(TensorRole role) const {
  for (size_t i = outputs.size(); i-- > 0;) {
    if (OutputUse(i).role == role) return outputs[i];
  }
  return {};
}

Node* Graph::AddConstant(std::string name, Tensor value) {
  Node* node = Add(Node::Kind::kConstant, std::move(name));
  node->types = {value.type()};
  node->constant = std::move(value);
  return node;
}

Node* Graph::AddOperator(const Operator* op, std::string name, AttrsPtr attrs,
                         std::vector<Value> inputs) {
  Node* node = Add(Node::Kind::kOperator, std::move(name));
  node->op = op;
  node->op_name = op->name;
  node->types.resize(op->outputs(attrs.get()).size());
  node->attrs = std::move(attrs);
  node->inputs = std::move(inputs);
  return node;
}

Node* Graph::AddOpaque(std::string op_name, std::string name,
                       std::vector<Value> inputs, int outputs) {
  Node* node = Add(Node::Kind::kOpaque, std::move(name));
  node->op_name = std::move(op_name);
  node->inputs = std::move(inputs);
  node->types.resize(outputs);
  return node;
}

namespace {

// Nodes by their ids, which count on as nodes are made.
class NodeMarks {
 public:
  explicit NodeMarks(const Graph& graph)
      : marked_(graph.nodes().empty() ? 0 : Index(*graph.nodes().back()) + 1) {}

  bool Has(const Node& node) const { return marked_[Index(node)]; }
  // Returns whether it was not marked before.
  bool Add(const Node& node) {
    const bool is_new = !Has(node);
    marked_[Index(node)] = true;
    return is_new;
  }

 private:
  static size_t Index(const Node& node) {
    return static_cast<size_t>(node.id());
  }
  std::vector<bool> marked_;
};

}  // namespace

std::vector<Node*> Graph::TopologicalOrder() const {
  std::vector<Node*> order;
  NodeMarks seen(*this);
  std::vector<std::pair<Node*, size_t>> stack;  // node, next input to visit
  std::vector<Node*> heads;
  for (const Value& output : outputs) heads.push_back(output.node);
  for (const Update& update : updates) {
    heads.push_back(update.variable);
    heads.push_back(update.next.node);
  }
  for (Node* head : heads) {
    if (!seen.Add(*head)) continue;
    stack.emplace_back(head, 0);
    while (!stack.empty()) {
      auto& [node, next] = stack.back();
      if (next == node->inputs.size()) {
        order.push_back(node);
        stack.pop_back();
        continue;
      }
      Node* input = node->inputs[next++].node;
      if (seen.Add(*input)) stack.emplace_back(input, 0);
    }
  }
  for (const auto& node : nodes_) {
    if (node->is_declared_input() && seen.Add(*node)) {
      order.push_back(node.get());
    }
  }
  return order;
}

std::vector<Node*> Graph::Variables(VariableRole role) const {
  std::vector<Node*> variables;
  for (Node* node : TopologicalOrder()) {
    if (node->kind == Node::Kind::kVariable && node->role == role) {
      variables.push_back(node);
    }
  }
  return variables;
}

Node* Graph::FindVariable(const std::string& name) const {
  const auto found = variables_.find(name);
  if (found == variables_.end()) return nullptr;
  for (Node* node : found->second) {
    if (node->kind == Node::Kind::kVariable) return node;
  }
  return nullptr;
}

void Replacements::Add(Value from, Value to) {
  to = Of(to);
  if (to != from) by_.insert_or_assign(from, to);
}

Value Replacements::Of(Value value) {
  std::vector<Value> passed;
  for (auto at = by_.find(value); at != by_.end(); at = by_.find(value)) {
    passed.push_back(value);
    value = at->second;
  }
  // The next one who asks is answered at once.
  for (const Value& other : passed) by_[other] = value;
  return value;
}

void Replacements::ApplyTo(Node& node) {
  if (by_.empty()) return;
  for (Value& input : node.inputs) input = Of(input);
}

void Graph::ReplaceUses(Replacements& replaced) {
  if (replaced.empty()) return;
  for (const auto& node : nodes_) replaced.ApplyTo(*node);
  for (Value& output : outputs) output = replaced.Of(output);
  for (Update& update : updates) update.next = replaced.Of(update.next);
}

bool Graph::RemoveDeadNodes() {
  NodeMarks live(*this);
  for (const Node* node : TopologicalOrder()) live.Add(*node);
  const auto is_dead = [&](const auto& node) { return !live.Has(*node); };
  for (auto& [name, variables] : variables_) {
    std::erase_if(variables, is_dead);
  }
  return std::erase_if(nodes_, is_dead) > 0;
}

}  // namespace mxc
