// SPDX-License-Identifier: Apache-2.0
// In which order each stage of a pipeline sends and receives.
//
// Micro-batches pass as in 1F1B (Narayanan et al., PipeDream, 2019; its schedule
// without stale weights as in PipeDream-Flush, 2021): stage s of S begins with
// S - s of them, then ends one for each that it begins. So it keeps what S - s
// micro-batches need, however many there are.
//
// All orders follow from one order of everything, in which each value is sent
// before it is received: no stage waits for one that waits for it. What goes
// from one stage to another is received in the order in which it is sent.
#pragma once

#include <utility>
#include <vector>

namespace mxc {

// The stage of what every stage computes for itself.
inline constexpr int kEverywhere = -1;

struct PlacedValue {
  int node = 0;  // its number
  int index = 0;

  friend auto operator<=>(const PlacedValue&, const PlacedValue&) = default;
};

struct PlacedNode {
  int stage = kEverywhere;
  int part = -1;                    // Node::part
  std::vector<PlacedValue> inputs;  // of nodes before it
};

struct PlacedGraph {
  int stage = 0, stages = 1;      // the one that is asked about, of so many
  std::vector<PlacedNode> nodes;  // in an order in which they could run
  // What a stage needs at the end.
  std::vector<std::pair<PlacedValue, int>> ends;
};

struct TransferEvent {
  PlacedValue value;
  int other = 0;       // where it goes, or comes from
  bool sends = false;  // else it receives
};

// What the stage does, in order.
std::vector<TransferEvent> OrderTransfers(const PlacedGraph& graph);

}  // namespace mxc
