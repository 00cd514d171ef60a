// SPDX-License-Identifier: Apache-2.0
// What the passes over a training graph agree on.
#pragma once

#include <unordered_map>

#include "ir/graph/graph.h"
#include "ir/support/result.h"
#include "passes/pass.h"

namespace mxc {

// MXNet writes a number into some parameters before it reads them (gamma, under
// fix_gamma): that number for each parameter of which it does so.
std::unordered_map<const Node*, double> ForcedValues(const Graph& graph);

// The numbers of the rows of the parameter that have a gradient, as
// Operator::sparse_rows has them, where all that read it say the same; else empty.
Value RowsOf(const Graph& graph, const Node& parameter);

// Tells of which parameters the options' optimizer leaves rows alone that have
// no gradient.
Result<LazyRows> UpdatesLazily(const TrainingOptions& options);

// The update of one parameter of `network` alone, a graph without outputs: its
// inputs are the learning rate and the gradient.
Result<Graph> UpdateGraph(const Graph& network, const Node& parameter,
                          const TrainingOptions& options);

// The same of the loss's scale, whose gradient is what LossScale::Mark says.
Result<Graph> ScaleUpdateGraph();

}  // namespace mxc
