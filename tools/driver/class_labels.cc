// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/class_labels.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string_view>

namespace mxc {
namespace {

bool IsSet(const Node& node, std::string_view name) {
  const std::string text = AttributeText(node, name);
  return text == "True" || text == "true" || text == "1";
}

std::optional<ClassLabels> LabelsOf(const Node& node) {
  if (node.kind != Node::Kind::kOperator || node.inputs.size() < 2) {
    return std::nullopt;
  }
  const Shape& data = node.inputs[0].type().shape;
  const Shape& label = node.inputs[1].type().shape;
  if (!data.known() || (label.known() && label == data)) return std::nullopt;
  const auto axis = ClassAxis(node, data.rank());
  const Node* input = InputBehind(node.inputs[1]);
  if (!axis || *axis < 0 || *axis >= data.rank() || input == nullptr) {
    return std::nullopt;
  }
  ClassLabels labels{input->name, data[*axis], ""};
  if (IsSet(node, "use_ignore")) {
    labels.ignored = AttributeText(node, "ignore_label");
  }
  return labels;
}

}  // namespace

std::string AttributeText(const Node& node, std::string_view name) {
  for (const AttrText& attr : node.op->print(node.attrs.get())) {
    if (attr.first == name) return attr.second;
  }
  return "";
}

const Node* InputBehind(Value value) {
  static constexpr std::string_view kSameValues[] = {
      "Reshape", "Flatten",   "transpose", "SwapAxis", "expand_dims",
      "squeeze", "BlockGrad", "Cast",      "_copy"};
  const Node* node = value.node;
  while (node->kind == Node::Kind::kOperator &&
         std::ranges::count(kSameValues, node->op->name) > 0) {
    node = node->inputs[0].node;
  }
  const bool is_input =
      node->kind == Node::Kind::kVariable && node->role == VariableRole::kInput;
  return is_input ? node : nullptr;
}

std::optional<int> ClassAxis(const Node& node, int rank) {
  const std::string_view op = node.op->name;
  if (op == "SoftmaxOutput") {
    if (IsSet(node, "multi_output")) return 1;
    if (IsSet(node, "preserve_shape") || rank == 2) return rank - 1;
  }
  if (op == "SVMOutput" || op == "softmax_cross_entropy") return rank - 1;
  if (op == "pick" && AttributeText(node, "mode") != "wrap") {
    const int axis = std::atoi(AttributeText(node, "axis").c_str());
    return axis < 0 ? axis + rank : axis;
  }
  return std::nullopt;
}

std::vector<ClassLabels> FindClassLabels(const Graph& graph) {
  std::vector<ClassLabels> found;
  for (const Node* node : graph.TopologicalOrder()) {
    const auto labels = LabelsOf(*node);
    const bool known =
        labels && std::ranges::any_of(found, [&](const ClassLabels& other) {
          return other.input == labels->input;
        });
    if (labels && !known) found.push_back(*labels);
  }
  return found;
}

}  // namespace mxc
