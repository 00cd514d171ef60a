// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mxc {

// An operator as a scan: a graph that runs turn after turn. Its inputs are
//   slices    [turns, dims…], of which turn t sees element t (or turns − 1 − t)
//   carried   what the first turn sees; later ones see what the turn before
//             them has computed
//   whole     seen by every turn
// in this order; its outputs are those of the graph, each stacked along a new
// first axis as the slices are, or that of the last turn alone. A stack of what
// is carried is [turns + 1, dims…]: what the first turn sees lies before the
// others, or behind them if the scan is reversed.
struct ScanForm {
  int64_t turns = 1;
  bool reversed = false;
  int slices = 0, carried = 0;
  // By output. The first `carried` ones are what the next turn sees.
  std::vector<bool> stacked;
  // The text form of the graph. Its inputs are the variables "arg0", "arg1", ….
  std::string body;
};

}  // namespace mxc
