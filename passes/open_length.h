// SPDX-License-Identifier: Apache-2.0
// What becomes of an axis of which only the first entries count, how many being
// known when the network runs, in the meaning of a node that reads it.
#pragma once

#include <optional>
#include <vector>

#include "ir/graph/graph.h"

namespace mxc {

// An input of a node with such an axis.
struct OpenInput {
  int input = 0, axis = 0;
};

struct LengthUse {
  // Of each output: the axis that has the length, too; -1: none, as the length
  // has been reduced.
  std::vector<int> axes;
  // Behind the length the inputs have to be `neutral`, where they are reduced.
  std::optional<double> neutral;
};

// Found by stating the meaning for two extents of the axis: an element may
// depend on it by the entry at its own index alone, or by sums, products and
// extrema over all entries. Empty where it depends otherwise, or has no meaning.
// A node of several operators uses what each of them does, and reduces nothing.
std::optional<LengthUse> UseOfLength(Graph& graph, const Node& node,
                                     const std::vector<OpenInput>& open);

}  // namespace mxc
