// SPDX-License-Identifier: Apache-2.0
#include "passes/node_values.h"

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

ReaderCounts::ReaderCounts(const Graph& graph) {
  for (const Node* node : graph.TopologicalOrder()) {
    for (const Value& input : node->inputs) ++counts_[input];
  }
  for (const Value& output : graph.outputs) ++counts_[output];
}

int ReaderCounts::Of(Value value) const {
  const auto found = counts_.find(value);
  return found == counts_.end() ? 0 : found->second;
}

void ReaderCounts::PassOn(Value from, Value to) {
  counts_[to] += Of(from);
  counts_.erase(from);
}

}  // namespace mxc
