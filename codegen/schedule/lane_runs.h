// SPDX-License-Identifier: Apache-2.0
// Loads whose lanes lie in runs: if an index is taken apart along the lanes
// (space to depth), they are neighbours in memory in pairs or fours.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "codegen/schedule/affine.h"

namespace mxc {

struct LaneRuns {
  Affine first;                // the offset for value 0 of the lane variable
  std::vector<int64_t> steps;  // of each lane from there
  int run = 1;                 // neighbours, a power of 2 that divides lanes
};

// Of the lane variable's values 0 … lanes − 1; nothing where the offset's steps
// depend on other variables.
std::optional<LaneRuns> LaneRunsOf(const Expr& offset, int lane_var, int lanes,
                                   const IntervalOf& range);

}  // namespace mxc
