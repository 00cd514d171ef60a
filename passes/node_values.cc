// SPDX-License-Identifier: Apache-2.0
#include "passes/node_values.h"

#include <algorithm>

namespace mxc {

std::optional<std::string> AttrTextOf(const Node& node, std::string_view name) {
  for (const AttrText& attr : node.op->print(node.attrs.get())) {
    if (attr.first == name) return attr.second;
  }
  return std::nullopt;
}

bool AttrIsTrue(const Node& node, std::string_view name) {
  return AttrTextOf(node, name) == "True";
}

bool IsRandom(const Graph& graph, const Node& node) {
  return node.op->random && node.op->random(node.attrs.get(), graph.training);
}

std::vector<std::string> OriginsOf(const Node& node) {
  if (!node.origins.empty()) return node.origins;
  return {node.name};
}

int CountReaders(const Graph& graph, Value value) {
  int readers = 0;
  for (const Node* node : graph.TopologicalOrder()) {
    readers += static_cast<int>(std::ranges::count(node->inputs, value));
  }
  return readers + static_cast<int>(std::ranges::count(graph.outputs, value));
}

}  // namespace mxc
