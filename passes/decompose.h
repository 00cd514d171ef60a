// SPDX-License-Identifier: Apache-2.0
// Replaces operators by the smaller ones they are defined by, for the pass
// decompose and passes that need some of it earlier.
#pragma once

#include "ir/graph/graph.h"
#include "ir/support/result.h"

namespace mxc {

// Replaces operators that are defined by smaller ones and that are `chosen`,
// and those in their parts. True if there was one.
Result<bool> DecomposeWhere(Graph& graph,
                            bool (*chosen)(const Graph&, const Node&));

}  // namespace mxc
