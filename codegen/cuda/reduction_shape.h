// SPDX-License-Identifier: Apache-2.0
// Which reductions of a nest a block's threads share, and how.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "codegen/cuda/gpu_machine.h"
#include "codegen/schedule/loop_nest.h"

namespace mxc {

// What a device's memory yields at once: of what lies side by side, a block
// reads at least that.
inline constexpr int64_t kSectorBytes = 32;

// Reductions over the same ranges, none of which needs another: one loop.
struct ReductionPhase {
  std::vector<Expr> reduces;
  std::vector<Range> ranges;  // outermost first; what lies side by side last
  int64_t terms = 1;
};

struct ReductionShape {
  std::vector<ReductionPhase> phases;  // each may need those before it
  // Whether the lanes of the nest share each reduction; else each has its own.
  bool rows = true;
  int lanes = 1;       // of the results of columns; of the terms of rows
  int64_t points = 1;  // results, or vectors of them
  int points_of_block = 1, threads_of_point = 1;

  int threads() const { return points_of_block * threads_of_point; }
  // Returns whether several threads of a warp have terms of the same result.
  bool warps_share() const { return rows || points_of_block < 32; }
};

// Empty where a thread for each result is as good.
std::optional<ReductionShape> ShapeOfReductions(const LoopNest& nest,
                                                const GpuMachine& machine);

// Returns whether there is a reduction in it.
bool HasReduction(const Expr& e);

}  // namespace mxc
