// SPDX-License-Identifier: Apache-2.0
// Questions about nodes that several graph passes ask.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph/graph.h"

namespace mxc {

// An attribute as MXNet's text ("(3, 3)", "True"), given or by default; nullopt
// if the operator has none of that name.
std::optional<std::string> AttrTextOf(const Node& node, std::string_view name);
bool AttrIsTrue(const Node& node, std::string_view name);

// Whether the node draws random numbers in this graph.
bool IsRandom(const Graph& graph, const Node& node);

// The node's own name, or what it was made from.
std::vector<std::string> OriginsOf(const Node& node);

// The readers of one output, graph outputs included.
int CountReaders(const Graph& graph, Value value);

}  // namespace mxc
