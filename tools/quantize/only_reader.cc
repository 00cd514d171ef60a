// SPDX-License-Identifier: Apache-2.0
#include "tools/quantize/only_reader.h"

namespace mxc {

OnlyReaders::OnlyReaders(const Graph& graph) {
  for (Node* node : graph.TopologicalOrder()) {
    for (const Value& input : node->inputs) readers_[input].push_back(node);
  }
  for (const Value& output : graph.outputs) {
    readers_[output].push_back(nullptr);
  }
}

Node* OnlyReaders::Of(const Node& node) const {
  for (int i = 1; i < static_cast<int>(node.types.size()); ++i) {
    if (!ReadersOf(node, i).empty()) return nullptr;
  }
  const std::vector<Node*>& found = ReadersOf(node, 0);
  return found.size() == 1 ? found[0] : nullptr;
}

const std::vector<Node*>& OnlyReaders::ReadersOf(const Node& node,
                                                 int output) const {
  static const std::vector<Node*> kNone;
  const auto found = readers_.find({const_cast<Node*>(&node), output});
  return found == readers_.end() ? kNone : found->second;
}

}  // namespace mxc
