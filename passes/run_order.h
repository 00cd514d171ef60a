// SPDX-License-Identifier: Apache-2.0
// In which order the nodes of a graph become steps.
#pragma once

#include <vector>

#include "ir/graph/graph.h"

namespace mxc {

// The topological order; where a batch passes in parts, all of one part before
// the next one begins, so that activations of two are not there at once.
//
// Where values are sent and received, these keep their order, and others come
// between them: a part begins when what it needs of another stage is there, what
// it sends comes first, so that the other stage need not wait for gradients of
// weights (as in Qi et al., Zero Bubble Pipeline Parallelism, 2023, section 2),
// and all of it comes before the next is waited for.
std::vector<Node*> RunOrder(const Graph& graph);

}  // namespace mxc
