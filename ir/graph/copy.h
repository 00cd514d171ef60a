// SPDX-License-Identifier: Apache-2.0
// Copies of graphs and of parts of them.
#pragma once

#include <functional>
#include <unordered_map>

#include "ir/graph/graph.h"

namespace mxc {

// The same graph. Ids count from 0 in the order of creation, so that those of a
// copy are those of its copies.
Graph CopyOf(const Graph& graph);

// Copies values of one graph, with all that they depend on, into another.
class ValueCopier {
 public:
  // What stands in the other graph for a value, which is then not copied; empty:
  // it is. Asked once for each value at most.
  using StandIn = std::function<Value(Value from)>;

  ValueCopier(Graph& to, StandIn stand_in)
      : to_(to), stand_in_(std::move(stand_in)) {}

  Value Copy(Value from);

 private:
  bool IsKnown(Value from);

  Graph& to_;
  const StandIn stand_in_;
  std::unordered_map<Value, Value, ValueHash> known_;
};

}  // namespace mxc
