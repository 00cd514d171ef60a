// SPDX-License-Identifier: Apache-2.0
// form-branches: what is computed for one side of a choice alone is computed
// where that side is chosen.
//
//   c ────────────────────┐             c, x ─► _branch ─► y
//   x ─► Convolution ─► _choose ─► y  ⇒   then: Convolution
//   └──► exp ──────────────┘              else: exp
//
// What others read, too, stays outside, and so does what must happen in every
// run: next states, losses. In training also what has no gradient. Random
// numbers are functions of the random state by now (expose-draws), and move.
#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "ir/graph/builder.h"
#include "ir/graph/inner_graph.h"
#include "ir/ops/tensor/control/branch.h"
#include "passes/node_values.h"
#include "passes/passes.h"

namespace mxc {
namespace {

// Branches in each other: a side is text within text, whose quotes take twice
// the bytes at each level.
constexpr int kMostNesting = 6;

class BranchForming {
 public:
  BranchForming(Graph& graph, bool trains) : graph_(graph), trains_(trains) {
    for (const Node* node : graph_.TopologicalOrder()) CountUses(*node, 1);
    for (const Value& output : graph_.outputs) ++uses_[output.node];
    for (const Update& update : graph_.updates) ++uses_[update.next.node];
  }

  bool Run() {
    bool changed = false;
    // Choices within a side are branches before it becomes one.
    for (Node* node : graph_.TopologicalOrder()) {
      replaced_.ApplyTo(*node);
      if (node->Is("_choose")) changed |= Form(*node);
    }
    graph_.ReplaceUses(replaced_);
    if (changed) graph_.RemoveDeadNodes();
    return changed;
  }

 private:
  using Nodes = std::unordered_set<const Node*>;

  void CountUses(const Node& node, int times) {
    for (const Value& input : node.inputs) uses_[input.node] += times;
  }

  bool MayMove(const Node& node) const {
    return node.kind == Node::Kind::kOperator && !IsRandom(graph_, node) &&
           !node.IsLossHead() && !node.op->any_attributes &&
           !(graph_.training && node.NextStates() > 0) &&
           !(trains_ && !node.op->gradient);
  }

  // All whose readers are `roots`, by way of each other.
  Nodes ReadBy(std::span<const Value> roots) const {
    Nodes nodes;
    std::unordered_map<const Node*, int> seen;
    std::vector<const Node*> pending;
    const auto see = [&](const Value& value) {
      const Node* node = value.node;
      if (++seen[node] == uses_.at(node) && MayMove(*node)) {
        nodes.insert(node);
        pending.push_back(node);
      }
    };
    for (const Value& root : roots) see(root);
    while (!pending.empty()) {
      const Node* node = pending.back();
      pending.pop_back();
      for (const Value& input : node->inputs) see(input);
    }
    return nodes;
  }

  // The values that the sides' graphs read, as variables of either.
  struct Inputs {
    std::vector<Value> outside;
    std::string NameOf(const Value& value) {
      auto at = std::ranges::find(outside, value);
      if (at == outside.end()) at = outside.insert(at, value);
      return InnerVariable(at - outside.begin() + 1);
    }
  };

  Graph SideOf(const Nodes& nodes, std::span<const Value> results,
               Inputs& inputs) const {
    Graph side;
    side.training = graph_.training;
    std::unordered_map<const Node*, Node*> copies;
    const auto inside = [&](const Value& value) -> Value {
      const auto copy = copies.find(value.node);
      if (copy != copies.end()) return copy->second->out(value.index);
      const std::string name = inputs.NameOf(value);
      Node* variable = side.FindVariable(name);
      if (variable == nullptr) {
        variable = side.AddVariable(name);
        variable->types = {value.type()};
      }
      return variable->out();
    };
    for (const Node* node : InOrder(nodes, results)) {
      std::vector<Value> read;
      for (const Value& input : node->inputs) read.push_back(inside(input));
      Node* copy = side.AddOperator(node->op, node->name, node->attrs, read);
      copy->types = node->types;
      copy->op_name = node->op_name;
      copies[node] = copy;
    }
    for (const Value& result : results) side.outputs.push_back(inside(result));
    return side;
  }

  // Each after its inputs.
  static std::vector<const Node*> InOrder(const Nodes& nodes,
                                          std::span<const Value> results) {
    std::vector<const Node*> order;
    Nodes begun;
    std::vector<std::pair<const Node*, size_t>> path;
    const auto begin = [&](const Node* node) {
      if (nodes.contains(node) && begun.insert(node).second) {
        path.emplace_back(node, 0);
      }
    };
    for (const Value& result : results) {
      begin(result.node);
      while (!path.empty()) {
        auto& [node, next] = path.back();
        if (next < node->inputs.size()) {
          begin(node->inputs[next++].node);
        } else {
          order.push_back(node);
          path.pop_back();
        }
      }
    }
    return order;
  }

  int NestingOf(const Nodes& nodes) const {
    int most = 0;
    for (const Node* node : nodes) {
      const auto at = nesting_.find(node);
      if (at != nesting_.end()) most = std::max(most, at->second);
    }
    return most;
  }

  bool Form(Node& choice) {
    const size_t count = choice.types.size();
    const std::span<const Value> values = choice.inputs;
    const auto then = values.subspan(1, count);
    const auto otherwise = values.subspan(1 + count, count);
    const Nodes in_then = ReadBy(then), in_otherwise = ReadBy(otherwise);
    if (in_then.empty() && in_otherwise.empty()) return false;
    const int nesting =
        1 + std::max(NestingOf(in_then), NestingOf(in_otherwise));
    if (nesting > kMostNesting) return false;
    Inputs inputs;
    Graph then_side = SideOf(in_then, then, inputs);
    Graph otherwise_side = SideOf(in_otherwise, otherwise, inputs);
    for (const Nodes* nodes : {&in_then, &in_otherwise}) {
      for (const Node* node : *nodes) CountUses(*node, -1);
    }
    CountUses(choice, -1);
    GraphBuilder builder(graph_, choice);
    const std::vector<Value> outputs =
        AddBranch(builder, values[0], std::move(inputs.outside),
                  std::move(then_side), std::move(otherwise_side), "branch");
    CountUses(*outputs[0].node, 1);
    uses_[outputs[0].node] = uses_[&choice];
    nesting_[outputs[0].node] = nesting;
    for (size_t i = 0; i < count; ++i) {
      replaced_.Add(choice.out(static_cast<int>(i)), outputs[i]);
    }
    return true;
  }

  Graph& graph_;
  const bool trains_;
  std::unordered_map<const Node*, int> uses_;     // graph outputs included
  std::unordered_map<const Node*, int> nesting_;  // of branches
  Replacements replaced_;
};

}  // namespace

Result<bool> FormBranches(Graph& graph, PassContext& context) {
  return BranchForming(graph, context.training != nullptr).Run();
}

}  // namespace mxc
