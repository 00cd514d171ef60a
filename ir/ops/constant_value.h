// SPDX-License-Identifier: Apache-2.0
// The outputs of an operator whose inputs are constants.
#pragma once

#include <optional>
#include <vector>

#include "ir/graph/graph.h"

namespace mxc {

// What the operator's meaning gives, by the interpreter; or what the operator
// itself computes of constants. `most` bounds the work: elements of the outputs
// times elements of the inputs, unless the elements are only moved. nullopt where
// it is more, where an input is no constant, and for operators that have no
// meaning of their own (composed ones, functions, loops, random ones).
std::optional<std::vector<Tensor>> ConstantValue(const Node& node, double most);
// The work, counted like that.
double WorkOf(const Node& node);

}  // namespace mxc
