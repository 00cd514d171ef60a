// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/task_ranges.h"

#include <algorithm>

#include "codegen/cpu/cpu_machine.h"

namespace mxc {
namespace {

constexpr int64_t kLeastLaneBytes = 4;
constexpr int64_t kScatteredElementsOfTask = 32768, kMostScatterTasks = 64;

// All values have as many lanes as the widest has in a register.
int LanesOfWidest(const Machine& machine, std::span<const DType> types) {
  int64_t widest = kLeastLaneBytes;
  for (const DType type : types) widest = std::max(widest, SizeOf(type));
  return std::max(1, static_cast<int>(machine.vector_bytes / widest));
}

bool FetchesRows(const Target& target) {
  return CpuMachineOf(target).fetches_ahead;
}

// By elements of the output and values.
void DealColumns(const Target&, ScatterGrid& grid) {
  const int64_t work =
      (grid.rows + 4 * grid.positions) * grid.others * grid.columns;
  const int64_t wanted = std::clamp<int64_t>(work / kScatteredElementsOfTask, 1,
                                             kMostScatterTasks);
  // A cache line's worth of lanes at least.
  const int64_t least =
      std::max<int64_t>(grid.lanes, kLineBytes / grid.element_bytes);
  const int64_t cuts = DivideUp(wanted, grid.others);
  grid.column_chunk = DivideUp(DivideUp(grid.columns, cuts), least) * least;
  grid.row_chunk = grid.rows;
  grid.tasks = std::min(wanted, grid.points());
}

}  // namespace

constinit const Dealing kTaskRanges = {.masked_tails = true,
                                       .sums_in_vectors = true,
                                       .least_bytes_of_two = 64,
                                       .fetches_rows = FetchesRows,
                                       .lanes = LanesOfWidest,
                                       .deal_scatter = DealColumns};

}  // namespace mxc
