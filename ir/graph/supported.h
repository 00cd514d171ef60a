// SPDX-License-Identifier: Apache-2.0
// Which operators of a network can be compiled.
#pragma once

#include "ir/graph/graph.h"

namespace mxc {

// Whether there is a meaning, a procedure, or smaller operators; else it is
// only recognised.
bool CanBeCompiled(const Operator& op);

// What a file may name so, where it is known for these attributes; else null.
const Operator* KnownOperator(std::string_view op_name,
                              std::span<const AttrText> attrs);

// Says of what KnownOperator does not know why, or which known name is nearest.
void ReportUnknown(const SourceLoc& loc, std::string_view op_name,
                   std::string_view node_name, std::span<const AttrText> attrs,
                   Diagnostics& errors);

// Fails with every operator of the graph that is unknown or cannot be compiled,
// each place once: a block that is written out many times is wrong once.
Status RequireSupported(const Graph& graph);

}  // namespace mxc
