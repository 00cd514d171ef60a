// SPDX-License-Identifier: Apache-2.0
// Guesses a shape to show a user who has given none.
#pragma once

#include <string>

#include "ir/graph/graph.h"

namespace mxc {

// What the shape of an input may look like, for a message: "1x3x224x224". Its
// rank and channels follow from the weights of the layer that reads it.
std::string ExampleShape(const Graph& graph, const Node& input);

}  // namespace mxc
