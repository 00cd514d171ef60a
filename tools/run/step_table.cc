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

constexpr int kLeastName = 12;  // of a step

int WidthFrom(int least_rank) {
  int width = 0;
  for (const Column& column : kStepColumns) {
    if (column.ShownFrom(least_rank)) width += std::abs(column.width) + 1;
  }
  return width;
}

int LeastRank(int columns) {
  int least = 1;
  while (columns > 0 && least <= kRanks &&
         WidthFrom(least) + kLeastName > columns) {
    ++least;
  }
  return least;
}

}  // namespace

StepTable::StepTable() {
  const auto columns =
      static_cast<int>(runtime::TerminalColumns(STDOUT_FILENO));
  least_rank_ = LeastRank(columns);
  if (columns > 0) {
    longest_name_ = std::max(columns - WidthFrom(least_rank_), kLeastName);
  }
  Row titles;
  std::ranges::transform(kStepColumns, titles.begin(), &Column::title);
  Print(titles, "step");
}

void StepTable::Print(const Row& row, const char* step) const {
  for (size_t i = 0; i < row.size(); ++i) {
    if (!kStepColumns[i].ShownFrom(least_rank_)) continue;
    PrintOut("%*s ", kStepColumns[i].width, row[i].c_str());
  }
  const std::string name = runtime::Visible(step);
  PrintOut("%s\n", longest_name_ > 0
                       ? runtime::CutFront(name, longest_name_).c_str()
                       : name.c_str());
}

}  // namespace mxc::run
