// SPDX-License-Identifier: Apache-2.0
// smooth-labels: how the loss heads of a network that trains smooth labels.
//
//   SoftmaxOutput ⇒ SoftmaxOutput smooth_alpha=0.1    where training says 0.1
//
// What scoring reports is the loss of the labels as they are, whatever the
// network says.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <string>
#include <vector>

#include "passes/passes.h"

namespace mxc {
namespace {

// Returns whether that made it another head; nothing where it cannot smooth
// labels.
std::optional<bool> Smooth(Node& head, double alpha) {
  if (!head.op->smoothed) return std::nullopt;
  const AttrsPtr smoothed = head.op->smoothed(head.attrs.get(), head, alpha);
  if (smoothed == nullptr) return std::nullopt;
  if (head.op->print(smoothed.get()) == head.op->print(head.attrs.get())) {
    return false;
  }
  head.attrs = smoothed;
  return true;
}

// Of heads that were to smooth labels and cannot.
Diagnostic Explain(const std::vector<const Node*>& heads) {
  std::vector<std::string> names;
  for (const Node* head : heads) {
    names.push_back(fmt::format("'{}' ({})", head->name, head->op->name));
  }
  return Error(heads.front()->loc,
               "label smoothing does not apply to {}: of loss heads "
               "SoftmaxOutput alone smooths labels, those that are classes, "
               "and not with multi_output",
               fmt::join(names, ", "));
}

}  // namespace

Result<bool> SmoothLabels(Graph& graph, PassContext& context) {
  if (context.training == nullptr) return false;
  const double alpha = graph.training ? context.training->label_smoothing : 0;
  if (graph.training && alpha == 0) return false;
  bool changed = false, applies = false;
  std::vector<const Node*> others;
  for (Node* node : graph.TopologicalOrder()) {
    if (!node->IsLossHead()) continue;
    const std::optional<bool> smoothed = Smooth(*node, alpha);
    applies = applies || smoothed.has_value();
    changed = changed || smoothed.value_or(false);
    if (!smoothed) others.push_back(node);
  }
  if (!graph.training || others.empty()) return changed;
  if (!applies) return Explain(others);
  if (context.notes != nullptr) context.notes->push_back(Explain(others));
  return changed;
}

}  // namespace mxc
