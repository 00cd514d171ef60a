// SPDX-License-Identifier: Apache-2.0
// Reads the graphs that _foreach, _while_loop and _cond hold in a symbol's
// JSON.
#pragma once

#include <cstddef>
#include <vector>

#include "ir/graph/graph.h"

namespace mxc {

// A nested graph with its variables in MXNet's order.
struct Subgraph {
  Graph graph;
  std::vector<const Node*> variables;
};

// Those of a control flow operator of `graph`, `count` of them.
Result<std::vector<Subgraph>> ReadSubgraphs(const Node& node,
                                            const Graph& graph, size_t count);

}  // namespace mxc
