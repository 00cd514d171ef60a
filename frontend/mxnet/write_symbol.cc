// SPDX-License-Identifier: Apache-2.0
// Graph → MXNet 1.x symbol JSON, laid out as dmlc's JSONWriter lays it out:
// two spaces a level; a space stays before each line break; short lists and
// objects of at most one member stand on one line.
#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "frontend/csr_inputs.h"
#include "frontend/frontend.h"
#include "frontend/mxnet/symbol.h"
#include "frontend/variables.h"
#include "runtime/base/visible.h"

namespace mxc {
namespace {

using runtime::JsonQuoted;

constexpr size_t kShortList = 10;

std::string List(const std::vector<std::string>& items, int indent) {
  std::string out = "[";
  const bool lines = items.size() > kShortList;
  const std::string line = "\n" + std::string(indent + 2, ' ');
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out += ", ";
    if (lines) out += line;
    out += items[i];
  }
  if (lines) out += "\n" + std::string(indent, ' ');
  return out + "]";
}

// Sorted by key, as MXNet keeps it.
std::string Attributes(const std::map<std::string, std::string>& attrs) {
  std::string out = "{";
  const bool lines = attrs.size() > 1;
  for (const auto& [name, text] : attrs) {
    if (out.size() > 1) out += ", ";
    if (lines) out += "\n        ";
    out += JsonQuoted(name) + ": " + JsonQuoted(text);
  }
  return out + (lines ? "\n      }" : "}");
}

class Writer {
 public:
  explicit Writer(const Graph& graph)
      : graph_(graph), order_(graph.TopologicalOrder()) {
    LeaveOutUnreadInputs();
    LeaveOutElements();
    for (size_t i = 0; i < order_.size(); ++i) ids_[order_[i]] = i;
  }

  std::string Write() {
    std::string nodes, variables;
    std::vector<std::string> arg_nodes, rows = {"0"}, heads;
    size_t row = 0;
    for (size_t i = 0; i < order_.size(); ++i) {
      const Node& node = *order_[i];
      nodes += (i > 0 ? ", \n    " : "\n    ") + WriteNode(node);
      if (IsVariable(node)) arg_nodes.push_back(std::to_string(i));
      row += node.types.size() - node.NextStates();
      rows.push_back(std::to_string(row));
    }
    for (const Value& head : graph_.outputs) heads.push_back(Entry(head));
    return "{\n  \"nodes\": [" + nodes +
           "\n  ], \n  \"arg_nodes\": " + List(arg_nodes, 2) +
           ", \n  \"node_row_ptr\": " + List(rows, 2) +
           ", \n  \"heads\": " + List(heads, 2) +
           ", \n  \"attrs\": " + GraphAttributes() + "\n}";
  }

 private:
  // MXNet knows no arguments that the outputs do not depend on.
  void LeaveOutUnreadInputs() {
    std::unordered_set<const Node*> read;
    for (const Node* node : order_) {
      for (const Value& input : node->inputs) read.insert(input.node);
    }
    for (const Value& head : graph_.outputs) read.insert(head.node);
    std::erase_if(order_, [&](const Node* node) {
      return node->is_declared_input() && !read.contains(node);
    });
  }

  // MXNet knows the matrix that the elements are taken from.
  void LeaveOutElements() {
    std::unordered_set<const Node*> elements;
    for (const Node* node : order_) {
      if (!IsCsrInput(*node)) continue;
      for (const Value& input : node->inputs) elements.insert(input.node);
    }
    std::erase_if(order_,
                  [&](const Node* node) { return elements.contains(node); });
  }

  static bool IsVariable(const Node& node) {
    return node.kind == Node::Kind::kVariable ||
           node.kind == Node::Kind::kConstant || IsCsrInput(node);
  }

  std::string GraphAttributes() const {
    const std::string version =
        fmt::format("\"mxnet_version\": [\"int\", {}]", kCurrentMxnetVersion);
    if (!graph_.written.numpy_shapes) return "{" + version + "}";
    return "{\n    \"is_np_shape\": [\"int\", 1], \n    " + version + "\n  }";
  }

  std::string WriteNode(const Node& node) {
    std::map<std::string, std::string> attrs(node.written.annotations.begin(),
                                             node.written.annotations.end());
    attrs.insert(node.written.attributes.begin(),
                 node.written.attributes.end());
    if (node.kind == Node::Kind::kConstant) {
      attrs.merge(AnnotationsOfConstant(node.constant));
    }
    std::vector<std::string> inputs;
    for (size_t i = 0; i < node.inputs.size() && !IsVariable(node); ++i) {
      inputs.push_back(InputEntry(node, i));
    }
    std::string out = "{\n      \"op\": " +
                      JsonQuoted(IsVariable(node) ? "null" : node.op_name) +
                      ", \n      \"name\": " + JsonQuoted(node.name) + ", \n";
    if (!attrs.empty()) {
      out += "      \"attrs\": " + Attributes(attrs) + ", \n";
    }
    out += "      \"inputs\": " + List(inputs, 6);
    if (!node.written.subgraphs.empty()) {
      out += ", \n      \"subgraphs\": " + node.written.subgraphs;
    }
    return out + "\n    }";
  }

  std::string Entry(const Value& value) const {
    return fmt::format("[{}, {}, {}]", ids_.at(value.node), value.index,
                       Version(value.node));
  }

  // A node that changes a variable makes a new version of it.
  std::string InputEntry(const Node& node, size_t input) {
    const Value& value = node.inputs[input];
    if (MutatesInput(node, input)) ++versions_[value.node];
    return Entry(value);
  }

  int Version(const Node* node) const {
    const auto found = versions_.find(node);
    return found == versions_.end() ? 0 : found->second;
  }

  static bool MutatesInput(const Node& node, size_t input) {
    if (node.kind != Node::Kind::kOperator) return false;
    const auto specs = node.op->inputs(node.attrs.get());
    return input < specs.size() && specs[input].kind == InputKind::kState;
  }

  const Graph& graph_;
  std::vector<Node*> order_;
  std::unordered_map<const Node*, size_t> ids_;
  std::unordered_map<const Node*, int> versions_;
};

}  // namespace

std::string WriteSymbol(const Graph& graph) { return Writer(graph).Write(); }

}  // namespace mxc
