// SPDX-License-Identifier: Apache-2.0
#include "codegen/cuda/task_per_thread.h"

#include <algorithm>

#include "codegen/cuda/gpu_machine.h"
#include "codegen/schedule/loop_nest.h"

namespace mxc {
namespace {

// Of a grid; where there are more points, each thread has several.
constexpr int64_t kMostGridThreads = int64_t{1} << 26;
// Elements of fewer bytes do not widen the vectors of the others.
constexpr int64_t kLeastLaneBytesOfThread = 2, kMostLaneBytesOfThread = 8;

// There are no registers of vectors, but reads and writes of them: of the
// narrowest operand.
int LanesOfNarrowest(const Machine& machine, std::span<const DType> types) {
  int64_t narrowest = kMostLaneBytesOfThread;
  for (const DType type : types) {
    narrowest =
        std::min(narrowest, std::max(SizeOf(type), kLeastLaneBytesOfThread));
  }
  return std::max(1, static_cast<int>(machine.vector_bytes / narrowest));
}

void DealVectors(LoopNest& nest) {
  nest.row_dim = -1;
  nest.row_chunks = 1;
  nest.grid_dims =
      nest.lane_dim < 0 ? static_cast<int>(nest.dims.size()) : nest.lane_dim;
  const bool cut = nest.lane_dim >= 0 && !nest.one_vector && nest.kept.empty();
  nest.lane_chunk = cut ? nest.lanes : 0;
  nest.tasks = std::min(kMostGridThreads, nest.GridSize());
}

// A vector for each thread, and rows dealt until there are threads enough, each
// of which looks at all positions.
void DealRowsOfVectors(const Target& target, ScatterGrid& grid) {
  grid.column_chunk = grid.lanes;
  const int64_t columns = grid.others * grid.column_chunks();
  const int64_t parts = std::clamp<int64_t>(
      GpuMachineOf(target).busy_threads() / columns, 1, grid.rows);
  grid.row_chunk = DivideUp(grid.rows, parts);
  grid.tasks = std::min(grid.points(), kMostGridThreads);
}

}  // namespace

constinit const Dealing kTaskPerThread = {.one_task_each = true,
                                          .cached_jumps = true,
                                          .common_taps = true,
                                          .lanes = LanesOfNarrowest,
                                          .deal = DealVectors,
                                          .deal_scatter = DealRowsOfVectors};

}  // namespace mxc
