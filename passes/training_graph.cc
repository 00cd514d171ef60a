// SPDX-License-Identifier: Apache-2.0
#include "passes/training_graph.h"

namespace mxc {

Value LossOf(const Graph& graph) {
  for (size_t i = graph.outputs.size(); i-- > 0;) {
    if (i < graph.output_names.size() && graph.output_names[i] == kLossName) {
      return graph.outputs[i];
    }
  }
  return {};
}

std::optional<double> ForcedValue(const Graph& graph, const Node& parameter) {
  for (const auto& node : graph.nodes()) {
    if (node->op == nullptr || !node->op->forced_input) continue;
    for (size_t i = 0; i < node->inputs.size(); ++i) {
      if (node->inputs[i].node != &parameter) continue;
      const auto forced =
          node->op->forced_input(node->attrs.get(), static_cast<int>(i));
      if (forced) return forced;
    }
  }
  return std::nullopt;
}

}  // namespace mxc
