// SPDX-License-Identifier: Apache-2.0
// What the passes over a training graph agree on.
#pragma once

#include <string_view>

#include "ir/graph/graph.h"

namespace mxc {

inline constexpr std::string_view kLossName = "loss";

// The output `loss`, f32[1]; empty if the graph has none.
Value LossOf(const Graph& graph);

// MXNet writes a number into some parameters before it reads them (gamma, under
// fix_gamma): that number for a parameter of which it does so.
std::optional<double> ForcedValue(const Graph& graph, const Node& parameter);

}  // namespace mxc
