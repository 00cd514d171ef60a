// SPDX-License-Identifier: Apache-2.0
// Lowers a graph that a node holds as text to the program inside a step.
#pragma once

#include <string>
#include <vector>

#include "ir/graph/graph.h"
#include "ir/program/program.h"
#include "passes/pass.h"

namespace mxc {

// Inputs and outputs of a node, by number, that are operands of its step.
struct InnerOperands {
  std::vector<int> inputs, outputs;
};

// Lowers a graph that a node holds as text. Its variables are InnerVariables,
// its outputs the node's. Buffer i of the program is what the step's operand i
// is. An input that is no operand is a constant, which becomes the program's
// own.
Result<Program> LowerInner(const Node& node, const std::string& text,
                           const InnerOperands& operands, PassContext& context);

}  // namespace mxc
