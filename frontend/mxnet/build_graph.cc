// SPDX-License-Identifier: Apache-2.0
// Symbol → Graph: numbers become pointers, in the order in which MXNet visits.
#include <algorithm>
#include <map>
#include <optional>

#include "frontend/mxnet/symbol.h"
#include "frontend/variables.h"

namespace mxc {
namespace {

class Builder {
 public:
  explicit Builder(const Symbol& symbol)
      : symbol_(symbol), built_(symbol.nodes.size(), nullptr) {}

  Result<Graph> Build() {
    graph_.written.version = symbol_.names_version ? symbol_.version : 0;
    graph_.written.numpy_shapes = symbol_.numpy_shapes;
    const std::vector<int64_t> order = Order();
    if (!errors_.empty()) return std::move(errors_);
    CountOutputs();
    for (const int64_t id : order) CheckNode(symbol_.nodes[id]);
    for (const SymbolEntry& head : symbol_.heads) CheckEntry(head);
    CheckNames(order);
    if (!errors_.empty()) return std::move(errors_);
    for (const int64_t id : order) built_[id] = BuildNode(id);
    OutputNamer namer;
    for (const SymbolEntry& head : symbol_.heads) {
      AddOutput(graph_, ValueOf(head), namer);
    }
    AssignRoles(graph_);
    return std::move(graph_);
  }

 private:
  // Post-order from the heads, inputs from left to right. A file may refer
  // forward, so cycles are possible; they are reported.
  std::vector<int64_t> Order() {
    enum class Mark : char { kNew, kOpen, kDone };
    std::vector<Mark> marks(symbol_.nodes.size(), Mark::kNew);
    std::vector<int64_t> order;
    std::vector<std::pair<int64_t, size_t>> stack;  // node, next input
    for (const SymbolEntry& head : symbol_.heads) {
      if (marks[head.node] == Mark::kNew) stack.emplace_back(head.node, 0);
      while (!stack.empty()) {
        auto& [id, next] = stack.back();
        const SymbolNode& node = symbol_.nodes[id];
        marks[id] = Mark::kOpen;
        if (next == node.inputs.size()) {
          marks[id] = Mark::kDone;
          order.push_back(id);
          stack.pop_back();
          continue;
        }
        const SymbolEntry& input = node.inputs[next++];
        if (marks[input.node] == Mark::kOpen) {
          ReportCycle(stack, input);
        } else if (marks[input.node] == Mark::kNew) {
          stack.emplace_back(input.node, 0);
        }
      }
    }
    return order;
  }

  void ReportCycle(const std::vector<std::pair<int64_t, size_t>>& stack,
                   const SymbolEntry& back) {
    constexpr int kShown = 8;
    const auto first =
        std::ranges::find(stack, back.node, &std::pair<int64_t, size_t>::first);
    std::string path;
    int shown = 0;
    for (auto at = first; at != stack.end(); ++at) {
      if (++shown > kShown) continue;
      path += fmt::format("'{}' feeds on ", symbol_.nodes[at->first].name);
    }
    if (shown > kShown) path += "… ";
    errors_.push_back(Error(back.loc,
                            "the network goes round in a circle: {}'{}'", path,
                            symbol_.nodes[back.node].name));
  }

  // An unknown operator has as many outputs as are read.
  void CountOutputs() {
    outputs_.assign(symbol_.nodes.size(), 1);
    const auto read = [&](const SymbolEntry& entry) {
      constexpr int64_t kMost = 1 << 16;
      if (symbol_.nodes[entry.node].is_variable() ||
          symbol_.nodes[entry.node].op != nullptr) {
        return;
      }
      int64_t& count = outputs_[entry.node];
      count = std::max(count, std::min(entry.output, kMost) + 1);
    };
    for (const SymbolNode& node : symbol_.nodes) {
      std::ranges::for_each(node.inputs, read);
    }
    std::ranges::for_each(symbol_.heads, read);
    for (size_t i = 0; i < symbol_.nodes.size(); ++i) {
      const SymbolNode& node = symbol_.nodes[i];
      if (node.op == nullptr) continue;
      outputs_[i] = std::ssize(node.op->outputs(node.typed.get()));
    }
  }

  void CheckEntry(const SymbolEntry& entry) {
    const int64_t count = outputs_[entry.node];
    if (entry.output < count) return;
    const SymbolNode& node = symbol_.nodes[entry.node];
    errors_.push_back(Error(
        entry.loc, "output {} of '{}' does not exist; {} has {}", entry.output,
        node.name, node.is_variable() ? "a variable" : node.op_name, count));
  }

  void CheckNode(const SymbolNode& node) {
    for (const SymbolEntry& input : node.inputs) CheckEntry(input);
    if (node.op == nullptr) return;
    const auto specs = node.op->inputs(node.typed.get());
    if (specs.size() == node.inputs.size()) return;
    std::string names;
    for (const InputSpec& spec : specs) {
      names += (names.empty() ? "" : ", ") + spec.name;
    }
    errors_.push_back(Error(node.loc, "{} '{}' has {} inputs, expected {}{}",
                            node.op_name, node.name, node.inputs.size(),
                            specs.size(),
                            names.empty() ? "" : fmt::format(": {}", names)));
  }

  void CheckNames(const std::vector<int64_t>& order) {
    std::map<std::string_view, const SymbolNode*> first;
    for (const int64_t id : order) {
      const SymbolNode& node = symbol_.nodes[id];
      if (!node.is_variable()) continue;
      const auto [found, added] = first.emplace(node.name, &node);
      if (added) continue;
      errors_.push_back(Error(node.loc,
                              "two variables are called '{}'; the "
                              "other one is on line {}",
                              node.name, found->second->loc.line));
    }
  }

  Value ValueOf(const SymbolEntry& entry) const {
    return {built_[entry.node], static_cast<int>(entry.output)};
  }

  Node* BuildNode(int64_t id) {
    const SymbolNode& from = symbol_.nodes[id];
    std::vector<Value> inputs;
    for (const SymbolEntry& entry : from.inputs) {
      inputs.push_back(ValueOf(entry));
    }
    Node* node = nullptr;
    if (from.is_variable()) {
      node = graph_.AddVariable(from.name);
    } else if (from.op != nullptr) {
      node =
          graph_.AddOperator(from.op, from.name, from.typed, std::move(inputs));
    } else {
      node = graph_.AddOpaque(from.op_name, from.name, std::move(inputs),
                              static_cast<int>(outputs_[id]));
    }
    node->op_name = from.op_name;
    node->why_unknown = from.why_unknown;
    node->written.subgraphs = from.subgraphs;
    node->loc = from.loc;
    for (const LocatedAttr& attr : from.attrs) {
      node->attr_locs[attr.name] = attr.loc;
      if (IsAnnotation(attr.name)) {
        node->written.annotations[attr.name] = attr.text;
      } else {
        node->written.attributes.emplace_back(attr.name, attr.text);
      }
    }
    if (!from.is_variable()) return node;
    SetAnnotatedType(*node, symbol_.numpy_shapes);
    if (auto value = AnnotatedConstant(*node)) {
      node->kind = Node::Kind::kConstant;
      node->constant = std::move(*value);
    }
    return node;
  }

  const Symbol& symbol_;
  Graph graph_;
  std::vector<Node*> built_;
  std::vector<int64_t> outputs_;  // of each node of the symbol
  Diagnostics errors_;
};

}  // namespace

Result<Graph> BuildGraph(const Symbol& symbol) {
  return Builder(symbol).Build();
}

}  // namespace mxc
