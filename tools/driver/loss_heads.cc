// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/loss_heads.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_set>

#include "frontend/variables.h"
#include "tools/driver/class_labels.h"

namespace mxc {
namespace {

using train::Head;
using train::HeadKind;

std::optional<HeadKind> KindOf(const Node& node) {
  static const std::map<std::string_view, HeadKind> kinds = {
      {"SoftmaxOutput", HeadKind::kClasses},
      {"SVMOutput", HeadKind::kMargins},
      {"LogisticRegressionOutput", HeadKind::kProbabilities},
      {"LinearRegressionOutput", HeadKind::kValues},
      {"MAERegressionOutput", HeadKind::kValues},
      {"MakeLoss", HeadKind::kLoss},
      {"make_loss", HeadKind::kLoss}};
  if (node.kind != Node::Kind::kOperator) return std::nullopt;
  const auto found = kinds.find(node.op->name);
  if (found == kinds.end()) return std::nullopt;
  return found->second;
}

// Returns whether the input's elements come to the value in their order.
bool KeepsOrder(Value value) {
  static constexpr std::string_view kReorders[] = {"transpose", "SwapAxis"};
  const Node* node = value.node;
  while (node->kind == Node::Kind::kOperator) {
    if (std::ranges::count(kReorders, node->op->name) > 0) return false;
    node = node->inputs[0].node;
  }
  return true;
}

int64_t LabelOf(const Node& node, const std::vector<std::string>& labels) {
  if (node.inputs.size() < 2) return -1;
  const Node* input = InputBehind(node.inputs[1]);
  if (input == nullptr || !KeepsOrder(node.inputs[1])) return -1;
  const auto found = std::ranges::find(labels, input->name);
  return found == labels.end() ? -1 : found - labels.begin();
}

void NoteClasses(const Node& node, Head& head) {
  const Shape& data = node.inputs[0].type().shape;
  const Shape& label = node.inputs[1].type().shape;
  if (!data.known()) return;
  const auto axis = ClassAxis(node, data.rank());
  if (!axis || *axis < 0 || *axis >= data.rank()) {
    head.label = -1;
    return;
  }
  head.axis = *axis;
  head.classes = data[*axis];
  if (label.known() && label == data) head.kind = HeadKind::kDistribution;
}

}  // namespace

std::vector<std::string> LabelInputs(const Graph& graph) {
  const std::unordered_set<const Node*> labels = LabelsOf(graph);
  std::vector<std::string> names;
  for (const Node* node : graph.TopologicalOrder()) {
    if (node->kind != Node::Kind::kVariable ||
        node->role != VariableRole::kInput) {
      continue;
    }
    if (labels.contains(node) || node->name.ends_with("label")) {
      names.push_back(node->name);
    }
  }
  return names;
}

std::vector<Head> FindLossHeads(const Graph& graph,
                                const std::vector<std::string>& labels) {
  std::vector<Head> heads;
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    const Node& node = *graph.outputs[i].node;
    const auto kind = KindOf(node);
    if (!kind) continue;
    Head head;
    head.kind = *kind;
    head.output = static_cast<int64_t>(i);
    head.label = LabelOf(node, labels);
    if (*kind == HeadKind::kClasses || *kind == HeadKind::kMargins) {
      NoteClasses(node, head);
    }
    heads.push_back(head);
  }
  return heads;
}

}  // namespace mxc
