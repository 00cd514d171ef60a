// SPDX-License-Identifier: Apache-2.0
// Lowers nodes that are scans to Repeat steps.
#pragma once

#include <vector>

#include "ir/graph/graph.h"
#include "ir/program/program.h"
#include "passes/pass.h"

namespace mxc {

// Adds the step of a node that has a ScanForm to `program`: the node's graph is
// lowered, constants become the body's own, and what the node puts out that
// nobody reads (`read`, by output) is not computed where it need not be. `step`
// has all of the node's inputs and outputs; those that remain are set.
Status LowerRepeat(const Node& node, const std::vector<bool>& read,
                   PassContext& context, Program& program, Step step);

}  // namespace mxc
