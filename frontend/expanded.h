// SPDX-License-Identifier: Apache-2.0
// Operators that are in no table, since their nested graphs stand for them.
#pragma once

#include "ir/graph/graph.h"

namespace mxc {

// Returns whether ExpandSubgraphs replaces the node.
bool IsExpanded(const Node& node);

}  // namespace mxc
