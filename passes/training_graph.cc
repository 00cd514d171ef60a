// SPDX-License-Identifier: Apache-2.0
#include "passes/training_graph.h"

namespace mxc {

std::unordered_map<const Node*, double> ForcedValues(const Graph& graph) {
  std::unordered_map<const Node*, double> values;
  for (const auto& node : graph.nodes()) {
    if (node->op == nullptr || !node->op->forced_input) continue;
    for (size_t i = 0; i < node->inputs.size(); ++i) {
      const auto forced =
          node->op->forced_input(node->attrs.get(), static_cast<int>(i));
      if (forced) values.emplace(node->inputs[i].node, *forced);
    }
  }
  return values;
}

Value RowsOf(const Graph& graph, const Node& parameter) {
  Value rows;
  for (const auto& node : graph.nodes()) {
    for (const Value& input : node->inputs) {
      if (input.node != &parameter) continue;
      const bool sparse = node->op != nullptr && node->op->sparse_rows;
      const int numbers =
          sparse ? node->op->sparse_rows(node->attrs.get()) : -1;
      if (numbers < 0) return {};
      const Value named = node->inputs[static_cast<size_t>(numbers)];
      if (rows && rows != named) return {};
      rows = named;
    }
  }
  return rows.node == &parameter ? Value() : rows;
}

}  // namespace mxc
