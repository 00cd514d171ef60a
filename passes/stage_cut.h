// SPDX-License-Identifier: Apache-2.0
// Where a chain of nodes is cut into stages of a pipeline (place-stages).
#pragma once

#include <vector>

namespace mxc {

// Seconds, of nodes in an order in which they could run.
struct StageCosts {
  std::vector<double> nodes;
  // [i]: what it takes a stage to send, or to receive, all that crosses a cut in
  // front of node i.
  std::vector<double> cuts;
};

// The first node of each stage. The slowest stage, what it exchanges at both of
// its ends counted, takes as little as it can. `stages` is at least 1, and there
// are as many nodes at least.
std::vector<int> CutIntoStages(const StageCosts& costs, int stages);

}  // namespace mxc
