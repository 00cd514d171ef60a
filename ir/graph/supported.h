// SPDX-License-Identifier: Apache-2.0
// Which operators of a network can be compiled.
#pragma once

#include "ir/graph/graph.h"

namespace mxc {

// Returns whether there is a meaning, a procedure, or smaller operators; else
// it is only recognised.
bool CanBeCompiled(const Operator& op);

// What a file may name so. Null where it is not known, in general or for these
// attributes; then `why` says it of these (Node::why_unknown).
const Operator* KnownOperator(std::string_view op_name,
                              std::span<const AttrText> attrs,
                              std::string& why);

// Says of an operator that nobody knows it: `why`, or which known name is
// nearest.
void ReportUnknown(const SourceLoc& loc, std::string_view op_name,
                   std::string_view node_name, std::string_view why,
                   Diagnostics& errors);

// Fails with every operator of the graph that is unknown or cannot be compiled,
// each place once: a block that is written out many times is wrong once.
Status RequireSupported(const Graph& graph);

}  // namespace mxc
