// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <unordered_map>

#include "tools/diagram/diagram.h"
#include "tools/terminal.h"

namespace mxc {
namespace {

using Kind = DiagramBox::Kind;

// The longest text of attributes that fits below a name.
constexpr size_t kLongest = 72;

// Attributes that say something: those that differ from their defaults.
std::string AttributeText(const Node& node) {
  if (node.kind != Node::Kind::kOperator) return "";
  struct Collect : Fields {
    void Visit(Field& field) override {
      if (!field.required) out[std::string(field.name)] = PrintField(field);
      if (field.hint) hints.insert(std::string(field.name));
    }
    std::map<std::string, std::string> out;
    std::set<std::string> hints;
  } defaults;
  node.op->describe(defaults);
  std::string text;
  for (const auto& [name, value] : node.op->print(node.attrs.get())) {
    const auto known = defaults.out.find(name);
    if (known != defaults.out.end() && known->second == value) continue;
    if (defaults.hints.contains(name) || name == "num_args") continue;
    text += (text.empty() ? "" : ", ") + name + " " + value;
  }
  return Shorten(text, kLongest);
}

bool IsWeight(const Node& node) {
  return node.kind == Node::Kind::kConstant ||
         (node.kind == Node::Kind::kVariable &&
          node.role != VariableRole::kInput);
}

std::string WeightText(const Node& node) {
  std::vector<std::string> weights;
  for (const Value& input : node.inputs) {
    if (!IsWeight(*input.node) || !input.type().shape.known()) continue;
    if (input.shape().rank() >= 2) weights.push_back(ShapeText(input.shape()));
  }
  return weights.empty() ? ""
                         : fmt::format("weight {}", fmt::join(weights, ", "));
}

std::string OperatorName(const Node& node) {
  return node.kind == Node::Kind::kOperator ? node.op->name : node.op_name;
}

// What a gradient rule has added: whose it is. Attributes and weights are told
// where the operator itself is drawn.
std::pair<std::string, std::string> GradientTextOf(const Node& node) {
  std::string name = OperatorName(node);
  name.erase(0, name.find_first_not_of('_'));
  return {name, "of " + node.name.substr(0, node.name.find(kGradientRole))};
}

std::pair<std::string, std::string> TextOf(const Node& node) {
  if (node.name.find(kGradientRole) != std::string::npos) {
    return GradientTextOf(node);
  }
  std::string told = AttributeText(node);
  const std::string weights = WeightText(node);
  if (!weights.empty()) told += (told.empty() ? "" : ", ") + weights;
  return {OperatorName(node) + " " + node.name, Shorten(told, 3 * kLongest)};
}

std::string ShapeTextOf(const Value& value) {
  const auto index = static_cast<size_t>(value.index);
  const bool known =
      index < value.node->types.size() && value.type().shape.known();
  return known ? ShapeText(value.shape()) : "?";
}

bool IsGradient(const Value& value) {
  return value.node->name.find(kGradientRole) != std::string::npos;
}

class GraphDiagrammer {
 public:
  explicit GraphDiagrammer(const Graph& graph) : graph_(graph) {}

  Diagram Make() {
    diagram_.name = graph_.name;
    for (const Node* node : graph_.TopologicalOrder()) {
      if (!IsWeight(*node)) AddNode(*node);
    }
    diagram_.facts = Count(operators_, "operator");
    for (size_t i = 0; i < graph_.outputs.size(); ++i) AddOutput(i);
    AddUpdates();
    AssignPhases(diagram_);
    AddBlocks(diagram_);
    FoldToScreen(diagram_);
    return std::move(diagram_);
  }

 private:
  void AddNode(const Node& node) {
    const auto box = static_cast<int>(diagram_.boxes.size());
    boxes_[&node] = box;
    diagram_.boxes.push_back({.name = node.name});
    DiagramBox& drawn = diagram_.boxes.back();
    if (node.kind == Node::Kind::kVariable) {
      drawn.kind = Kind::kInput;
    } else {
      ++operators_;
      drawn.operators = {TextOf(node)};
    }
    if (node.kind == Node::Kind::kOpaque) {
      drawn.kind = Kind::kUnknown;
      drawn.detail = "unknown";
    }
    if (!node.types.empty()) {
      drawn.shape = ShapeTextOf({const_cast<Node*>(&node), 0});
    }
    for (const Value& input : node.inputs) AddArrow(input, box);
  }

  void AddArrow(const Value& value, int to) {
    const auto from = boxes_.find(value.node);
    if (from == boxes_.end()) return;
    diagram_.arrows.push_back({.from = from->second,
                               .to = to,
                               .shape = ShapeTextOf(value),
                               .gradient = IsGradient(value)});
  }

  void AddOutput(size_t i) {
    const auto box = static_cast<int>(diagram_.boxes.size());
    const std::string name = i < graph_.output_names.size()
                                 ? graph_.output_names[i]
                                 : fmt::format("output {}", i);
    diagram_.boxes.push_back({.kind = Kind::kOutput,
                              .name = name,
                              .shape = ShapeTextOf(graph_.outputs[i])});
    AddArrow(graph_.outputs[i], box);
  }

  // A node whose value is the next one of a state, or what will make one of a
  // gradient once there is an optimizer.
  void AddUpdates() {
    for (const Update& update : graph_.updates) {
      const auto from = boxes_.find(update.next.node);
      if (from == boxes_.end()) continue;
      if (!IsGradient(update.next)) {
        diagram_.boxes[from->second].only_updates = true;
        continue;
      }
      const auto box = static_cast<int>(diagram_.boxes.size());
      diagram_.boxes[from->second].detail =
          "gradient of " + update.variable->name;
      diagram_.boxes.push_back({.name = update.variable->name,
                                .detail = "takes its gradient",
                                .shape = ShapeTextOf(update.next),
                                .only_updates = true});
      AddArrow(update.next, box);
    }
  }

  const Graph& graph_;
  Diagram diagram_;
  int64_t operators_ = 0;
  std::unordered_map<const Node*, int> boxes_;  // looked up only
};

}  // namespace

OperatorTexts TextsOf(const Graph& graph) {
  OperatorTexts texts;
  for (const Node* node : graph.TopologicalOrder()) {
    if (node->kind == Node::Kind::kOperator) {
      texts.emplace(node->name, TextOf(*node));
    }
  }
  return texts;
}

Diagram GraphDiagram(const Graph& graph) {
  return GraphDiagrammer(graph).Make();
}

std::string ShapeText(const Shape& shape) {
  if (shape.rank() == 0) return "scalar";
  return fmt::format("{}", fmt::join(shape.dims(), "x"));
}

}  // namespace mxc
