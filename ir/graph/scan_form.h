// SPDX-License-Identifier: Apache-2.0
// Describes an operator as a loop over a graph (Operator::scan), which lowering
// makes a Repeat step.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ir/graph/graph.h"

namespace mxc {

// An operator as a scan: a graph that runs turn after turn. Its inputs are
//   slices     [turns, dims…], of which turn t sees element t (or turns − 1 − t)
//   carried    what the first turn sees; later ones see what the turn before
//              them has computed
//   whole      seen by every turn
// in this order, and the count if there is one. The graph puts out the next value of each carried input, then
// what a turn computes beside. The node's outputs are
//   last       of each carried input what the last turn leaves, [dims…]
//   stacks     what the turns compute beside, [turns, dims…], along the first
//              axis as the slices are
//   histories  of each carried input all that is handed from turn to turn,
//              [turns + 1, dims…]: what the first turn sees lies before what the
//              turns leave, or behind it if the scan is reversed.
// Where a slice has no turn, the stacks are zeros and the histories anything.
struct ScanForm {
  int64_t turns = 1;
  bool reversed = false;
  int slices = 0, carried = 0, stacks = 0;
  // A turn takes place while the first carried input, one element, is not 0. The
  // second, i64[1], is the number of turns that have.
  bool conditional = false;
  // The last input is an i64[1]: slices from this number on have no turn. A
  // reversed scan with a count has no histories.
  bool counted = false;
  // The text form of the graph. Its inputs are the variables "arg0", "arg1", …,
  // whose types may be left open: they follow from what the scan is given.
  std::string body;

  int histories() const { return reversed && counted ? 0 : carried; }
  // Places among the node's outputs; that of a carried input's last value is the
  // carried input's own.
  int stack(int k) const { return carried + k; }
  int history(int k) const { return carried + stacks + k; }
};

// The graph of a turn, whose variables have the types that follow from those of
// the scan's inputs, where the text leaves them open. Nodes have none yet then.
Result<Graph> TurnOf(const ScanForm& form, std::span<const Value> inputs);
Result<Graph> TurnOf(const ScanForm& form, std::span<const TensorType> inputs);

}  // namespace mxc
