// SPDX-License-Identifier: Apache-2.0
// Labels that inference does without.
//
//   label: ? ─► Reshape (-1) ─► SoftmaxOutput      label: [6] ─► SoftmaxOutput
//                 data: [6, 10] ─┘              ⇒     data: [6, 10] ─┘
#include <algorithm>
#include <unordered_set>
#include <vector>

#include "frontend/frontend.h"
#include "ir/graph/builder.h"

namespace mxc {
namespace {

using Nodes = std::unordered_set<const Node*>;  // looked up only

bool IsLabelInput(const Node& node, size_t input) {
  if (!node.IsLossHead()) return false;
  const auto specs = node.op->inputs(node.attrs.get());
  return input < specs.size() && specs[input].kind == InputKind::kLabel;
}

// What an output depends on where loss heads do not read their labels.
Nodes NeededWithoutLabels(const Graph& graph) {
  Nodes needed;
  std::vector<const Node*> open;
  const auto visit = [&](const Node* node) {
    if (needed.insert(node).second) open.push_back(node);
  };
  for (const Value& output : graph.outputs) visit(output.node);
  for (const Update& update : graph.updates) visit(update.next.node);
  while (!open.empty()) {
    const Node* node = open.back();
    open.pop_back();
    for (size_t i = 0; i < node->inputs.size(); ++i) {
      if (!IsLabelInput(*node, i)) visit(node->inputs[i].node);
    }
  }
  return needed;
}

// An input of unknown shape that `value` follows from, and that is not needed.
Node* UnknownLabel(Value value, const Nodes& needed) {
  Nodes seen;
  std::vector<Node*> open = {value.node};
  while (!open.empty()) {
    Node* node = open.back();
    open.pop_back();
    if (!seen.insert(node).second || needed.contains(node)) continue;
    if (node->kind == Node::Kind::kVariable &&
        node->role == VariableRole::kInput && !node->types[0].shape.known()) {
      return node;
    }
    for (const Value& input : node->inputs) open.push_back(input.node);
  }
  return nullptr;
}

struct Cut {
  Node* head;
  size_t input;
  Node* label;
};

std::vector<Cut> FindCuts(const Graph& graph) {
  const Nodes needed = NeededWithoutLabels(graph);
  std::vector<Cut> cuts;
  for (Node* node : graph.TopologicalOrder()) {
    if (!needed.contains(node)) continue;
    for (size_t i = 0; i < node->inputs.size(); ++i) {
      if (!IsLabelInput(*node, i) || !node->inputs[i].shape().known()) continue;
      Node* label = UnknownLabel(node->inputs[i], needed);
      if (label != nullptr) cuts.push_back({node, i, label});
    }
  }
  return cuts;
}

void GiveLabelsToHeads(Graph& graph) {
  for (const auto& [head, input, label] : FindCuts(graph)) {
    const TensorType wanted = head->inputs[input].type();
    Shape& shape = label->types[0].shape;
    if (!shape.known()) shape = wanted.shape;
    if (shape == wanted.shape) {
      head->inputs[input] = label->out();
      continue;
    }
    // Another head has the label; this one gets what it does not read.
    TensorType zeros = wanted;
    if (zeros.dtype == DType::kUnknown) {
      zeros.dtype = head->inputs[0].type().dtype;
    }
    if (zeros.dtype == DType::kUnknown) zeros.dtype = DType::kF32;
    head->inputs[input] = GraphBuilder(graph, *head).Zeros(zeros);
  }
}

// MakeLoss, or an operator that computes a loss of labels (CTCLoss).
bool IsLoss(const Node& node) {
  if (node.kind != Node::Kind::kOperator) return false;
  const bool label = std::ranges::any_of(
      node.op->inputs(node.attrs.get()),
      [](const InputSpec& spec) { return spec.kind == InputKind::kLabel; });
  return label != node.IsLossHead();
}

// Losses that cannot be computed without a label of unknown shape go where
// other outputs can be computed.
Diagnostics LeaveOutLosses(Graph& graph) {
  std::vector<Value> kept;
  std::vector<std::string> kept_names;
  std::vector<Node*> labels;
  Diagnostics notes;
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    const Value output = graph.outputs[i];
    const std::string& name = graph.output_names[i];
    Node* label = IsLoss(*output.node) ? UnknownLabel(output, {}) : nullptr;
    if (label == nullptr) {
      kept.push_back(output);
      kept_names.push_back(name);
      continue;
    }
    labels.push_back(label);
    notes.push_back(Error(output.node->loc,
                          "output '{0}' is left out: a loss of '{1}', whose "
                          "shape is unknown (--input-shape {1}:…)",
                          name, label->name));
  }
  if (kept.empty() || labels.empty()) return {};
  graph.outputs = std::move(kept);
  graph.output_names = std::move(kept_names);
  const Nodes needed = NeededWithoutLabels(graph);
  for (Node* label : labels) label->declared = needed.contains(label);
  return notes;
}

}  // namespace

Diagnostics CutUnknownLabels(Graph& graph) {
  Diagnostics notes = LeaveOutLosses(graph);
  GiveLabelsToHeads(graph);
  return notes;
}

}  // namespace mxc
