// SPDX-License-Identifier: Apache-2.0
// What becomes of an axis of which only the first entries count, how many being
// known when the network runs, in the meaning of a node that reads it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/graph/graph.h"

namespace mxc {

// Such an axis. It may be one of sequences that lie behind each other, or side by
// side: index i is of entry i / inner % length.
struct OpenAxis {
  int axis = 0;
  int64_t inner = 1;
  friend bool operator==(const OpenAxis&, const OpenAxis&) = default;
};

// One of an input of a node.
struct OpenInput : OpenAxis {
  int input = 0;
  friend bool operator==(const OpenInput&, const OpenInput&) = default;
};

struct LengthUse {
  // Of each output: the axes that have the length, too.
  std::vector<std::vector<OpenAxis>> axes;
  // What is reduced over all entries has to be `neutral` behind the length.
  std::vector<OpenInput> reduced;
  double neutral = 0;
  // Entries that there have to be: 1 where the first is read.
  int64_t least = 0;
};

// Found by stating the meaning for two extents of the axes, or where `held` for one,
// if attributes or other inputs hold it: an element may depend on them by the entry
// at its own index alone, by the first entry, or by sums, products and extrema over
// all entries. Empty where it depends otherwise, or has no meaning. A node that has
// none of its own uses what the operators do of which it is made, and reduces
// nothing. `most`: the entries that the graph has.
std::optional<LengthUse> UseOfLength(Graph& graph, const Node& node,
                                     const std::vector<OpenInput>& open,
                                     int64_t most, bool held);

}  // namespace mxc
