// SPDX-License-Identifier: Apache-2.0
// Questions about nodes that several graph passes ask.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/graph/graph.h"

namespace mxc {

// An attribute as MXNet's text ("(3, 3)", "True"), given or by default; nullopt
// if the operator has none of that name.
std::optional<std::string> AttrTextOf(const Node& node, std::string_view name);
bool AttrIsTrue(const Node& node, std::string_view name);

// Returns whether the node draws random numbers in this graph.
bool IsRandom(const Graph& graph, const Node& node);

// The node's own name, or what it was made from.
std::vector<std::string> OriginsOf(const Node& node);

// How often each value is read, graph outputs included. What a pass replaces
// passes its readers on.
class ReaderCounts {
 public:
  explicit ReaderCounts(const Graph& graph);
  int Of(Value value) const;
  void PassOn(Value from, Value to);

 private:
  std::unordered_map<Value, int, ValueHash> counts_;
};

}  // namespace mxc
