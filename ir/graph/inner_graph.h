// SPDX-License-Identifier: Apache-2.0
// Graphs that operators hold as text (ScanForm, BranchForm).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/graph/graph.h"

namespace mxc {

// The variable of an inner graph that stands for an input of its node.
std::string InnerVariable(int64_t input);

// `holder` names the text in errors.
Result<Graph> ParseInner(std::string holder, std::string text);

// Constants whose numbers the text form leaves out.
std::vector<Node*> LargeConstants(const Graph& graph);

}  // namespace mxc
