// SPDX-License-Identifier: Apache-2.0
// The text form of graphs; parse.cc reads it back.
//
//   graph @net(%0 "data": f32[1, 3, 8, 8] input) {
//     %1 "w" = constant f32[2] = 1 2
//     %2 "conv0" = Convolution(%0, %1) {kernel = "(3, 3)"} : f32[1, 4, 6, 6]
//     return %2.0 "conv0_output"
//     update %4 = %7.1
//   }
#include <fmt/format.h>

#include <unordered_map>

#include "ir/graph/graph.h"
#include "ir/support/fnv1a.h"
#include "ir/support/lexer.h"

namespace mxc {
namespace {

constexpr bool kKeepLines = true;  // of graphs that are attributes

constexpr int64_t kMaxPrintedElements = 64;

std::string_view KindOf(VariableRole role) {
  switch (role) {
    case VariableRole::kInput:
      return "input";
    case VariableRole::kParameter:
      return "parameter";
    case VariableRole::kState:
      return "state";
  }
  return "";
}

class GraphPrinter {
 public:
  explicit GraphPrinter(const Graph& graph) : graph_(graph) {}

  std::string Run() {
    const auto order = graph_.TopologicalOrder();
    for (const Node* node : order) {
      numbers_.emplace(node, static_cast<int>(numbers_.size()));
    }
    std::string out = fmt::format("graph @{}{}{} {{\n", graph_.name,
                                  graph_.training ? " training" : "",
                                  graph_.stateful ? " stateful" : "");
    for (const Node* node : order) out += "  " + PrintNode(*node) + "\n";
    out += "  return";
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      out += fmt::format("{} {}", i > 0 ? "," : "", Ref(graph_.outputs[i]));
      if (i < graph_.output_names.size()) {
        out += " " + Quoted(graph_.output_names[i]);
      }
      out += mxc::Print(graph_.OutputUse(i));
    }
    for (const Update& update : graph_.updates) {
      out += fmt::format("\n  update {} = {}", Ref(update.variable->out()),
                         Ref(update.next));
    }
    return out + "\n}\n";
  }

 private:
  std::string Ref(const Value& value) const {
    const int number = numbers_.at(value.node);
    return value.index == 0 ? fmt::format("%{}", number)
                            : fmt::format("%{}.{}", number, value.index);
  }

  std::string PrintNode(const Node& node) const {
    std::string out =
        fmt::format("%{} {} = ", numbers_.at(&node), Quoted(node.name));
    switch (node.kind) {
      case Node::Kind::kVariable:
        return out + fmt::format("{} {}{}", KindOf(node.role),
                                 ToString(node.types[0]), mxc::Print(node.use));
      case Node::Kind::kConstant:
        return out + PrintConstant(node);
      case Node::Kind::kOperator:
      case Node::Kind::kOpaque:
        break;
    }
    out += node.kind == Node::Kind::kOpaque ? "opaque " + Quoted(node.op_name)
                                            : node.op->name;
    out += "(";
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      out += (i > 0 ? ", " : "") + Ref(node.inputs[i]);
    }
    out += ")";
    if (node.kind == Node::Kind::kOperator) out += PrintAttributes(node);
    out += " :";
    for (size_t i = 0; i < node.types.size(); ++i) {
      out += fmt::format("{} {}", i > 0 ? "," : "", ToString(node.types[i]));
    }
    return out;
  }

  // What differs from the defaults.
  static std::string PrintAttributes(const Node& node) {
    std::vector<AttrError> errors;
    const auto defaults = node.op->parse({}, errors);
    std::vector<AttrText> plain;
    if (defaults) plain = node.op->print(defaults.get());
    std::string out;
    const auto attrs = node.op->print(node.attrs.get());
    for (size_t i = 0; i < attrs.size(); ++i) {
      const bool is_default =
          i < plain.size() && errors.empty() && plain[i] == attrs[i];
      if (is_default) continue;
      out += fmt::format("{}{} = {}", out.empty() ? "" : ", ", attrs[i].first,
                         Quoted(attrs[i].second, kKeepLines));
    }
    return out.empty() ? "" : " {" + out + "}";
  }

  static std::string PrintConstant(const Node& node) {
    std::string out = "constant " + ToString(node.types[0]);
    const int64_t elements = node.constant.shape().elements();
    if (elements > kMaxPrintedElements) return out;
    out += " =";
    for (int64_t i = 0; i < elements; ++i) {
      out += " " + ToString(node.constant.ExactAt(i), node.types[0].dtype);
    }
    return out;
  }

  const Graph& graph_;
  std::unordered_map<const Node*, int> numbers_;
};

}  // namespace

std::string Print(const Graph& graph) { return GraphPrinter(graph).Run(); }

uint64_t Hash(const Graph& graph) { return Fnv1a(Print(graph)); }

}  // namespace mxc
