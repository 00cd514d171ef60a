// SPDX-License-Identifier: Apache-2.0
// What the outputs of a network's loss heads and their labels hold: by this
// metrics are chosen, and refused.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/graph/graph.h"
#include "runtime/train/head.h"

namespace mxc {

// The names of the inputs that are labels, in the order of their nodes.
std::vector<std::string> LabelInputs(const Graph& graph);

// Of each loss head that is an output of the graph, in the order of the
// outputs. `labels`: the label inputs by name, in their order. Types must have
// been inferred.
std::vector<train::Head> FindLossHeads(const Graph& graph,
                                       const std::vector<std::string>& labels);

}  // namespace mxc
