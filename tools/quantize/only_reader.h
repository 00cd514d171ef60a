// SPDX-License-Identifier: Apache-2.0
// Who reads the values of a graph, as it is when this is made.
#pragma once

#include <unordered_map>
#include <vector>

#include "ir/graph/graph.h"

namespace mxc {

class OnlyReaders {
 public:
  explicit OnlyReaders(const Graph& graph);

  // The only reader of output 0, where nobody reads another output; null: there
  // is none, or the value leaves the network.
  Node* Of(const Node& node) const;

 private:
  const std::vector<Node*>& ReadersOf(const Node& node, int output) const;

  std::unordered_map<Value, std::vector<Node*>, ValueHash> readers_;
};

}  // namespace mxc
