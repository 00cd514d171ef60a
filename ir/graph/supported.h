// SPDX-License-Identifier: Apache-2.0
// Which operators of a network can be compiled.
#pragma once

#include "ir/graph/graph.h"

namespace mxc {

// Whether there is a meaning, a procedure, or smaller operators; else it is
// only recognised.
bool CanBeCompiled(const Operator& op);

// Fails with every operator of the graph that is unknown or cannot be compiled,
// each at its place, with the nearest known name.
Status RequireSupported(const Graph& graph);

}  // namespace mxc
