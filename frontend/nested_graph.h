// SPDX-License-Identifier: Apache-2.0
// For whoever makes nodes that are there to be written as a symbol.
#pragma once

#include "ir/graph/graph.h"

namespace mxc {

// `to` is written with the attributes that `from` is written with.
void CopyWrittenAttributes(const Node& from, Node& to);
// The node is written with that nested graph, as MXNet writes those of the
// operators that it fuses.
void SetNestedGraph(const Graph& nested, Node& node);

}  // namespace mxc
