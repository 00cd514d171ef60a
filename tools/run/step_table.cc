// SPDX-License-Identifier: Apache-2.0
#include "tools/run/step_table.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "runtime/base/terminal.h"
#include "runtime/base/visible.h"
#include "tools/run/output.h"

namespace mxc::run {
namespace {

// Columns of low rank are left out first, those without rank never.
struct Column {
  const char* title;
  int width, rank;

  bool ShownFrom(int least) const { return rank == 0 || rank >= least; }
};
constexpr auto kStepColumns = std::to_array<Column>({{"time", 12, 0},
                                                     {"share", 6, 0},
                                                     {"GFLOP/s", 9, 4},
                                                     {"bytes", 11, 2},
                                                     {"GB/s", 8, 3},
                                                     {"tasks", 6, 1},
                                                     {"roof", 6, 5},
                                                     {"bound", -8, 0}});
static_assert(kStepColumns.size() == StepTable::kColumns);
constexpr int kRanks = 5;

int LeastRank() {
  constexpr int kName = 12;  // of a step
  const auto columns =
      static_cast<int>(runtime::TerminalColumns(STDOUT_FILENO));
  int least = 1;
  for (; columns > 0 && least <= kRanks; ++least) {
    int width = kName;
    for (const Column& column : kStepColumns) {
      if (column.ShownFrom(least)) width += std::abs(column.width) + 1;
    }
    if (width <= columns) break;
  }
  return least;
}

}  // namespace

StepTable::StepTable() : least_rank_(LeastRank()) {
  Row titles;
  std::ranges::transform(kStepColumns, titles.begin(), &Column::title);
  Print(titles, "step");
}

void StepTable::Print(const Row& row, const char* step) const {
  for (size_t i = 0; i < row.size(); ++i) {
    if (!kStepColumns[i].ShownFrom(least_rank_)) continue;
    PrintOut("%*s ", kStepColumns[i].width, row[i].c_str());
  }
  PrintOut("%s\n", runtime::Visible(step).c_str());
}

}  // namespace mxc::run
