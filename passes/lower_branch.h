// SPDX-License-Identifier: Apache-2.0
// Lowers nodes that choose between graphs to Branch steps.
#pragma once

#include <vector>

#include "ir/graph/graph.h"
#include "ir/program/program.h"
#include "passes/pass.h"

namespace mxc {

// Gives a step of `program` the body of a node that has a BranchForm: its
// graphs are lowered, constants become the sides' own. The step has the node's
// inputs and outputs; it keeps those that somebody reads (`read`, by output).
Status LowerBranch(const Node& node, const std::vector<bool>& read,
                   PassContext& context, Program& program, Step& step);

}  // namespace mxc
