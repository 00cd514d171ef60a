// SPDX-License-Identifier: Apache-2.0
// A long network is drawn in columns. One ends where fewest values cross, near
// the height that all should have, and never within a step.
#pragma once

#include <map>
#include <vector>

#include "ir/graph/graph.h"

namespace mxc {

// The column of each node, from 0. `drawn`: the nodes in their order;
// `members`: by step, those of them that run in it, in order. The result may be
// looked up, not iterated: its order is that of addresses.
std::map<const Node*, int> ColumnsOf(
    const std::vector<const Node*>& drawn,
    const std::map<int, std::vector<const Node*>>& members);

}  // namespace mxc
