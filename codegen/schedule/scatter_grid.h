// SPDX-License-Identifier: Apache-2.0
// ScatterGrid: how a sum at positions (ir/program/scatter_sum.h) is cut into
// tasks. Each has whole elements of the output and looks at all positions.
#pragma once

#include <cstdint>

#include "ir/support/division.h"

namespace mxc {

struct ScatterGrid {
  // Elements of the output: along the axis that positions count, along the axis
  // of the lanes (1: there is none), and for each of these of all other axes.
  int64_t rows = 1, columns = 1, others = 1;
  int64_t positions = 1;
  int64_t element_bytes = 4;
  int lanes = 1;

  // Of a point of the grid, at most; the last one along an axis may have less.
  int64_t row_chunk = 1, column_chunk = 1;
  int64_t tasks = 1;  // which share the points evenly

  int64_t row_chunks() const { return DivideUp(rows, row_chunk); }
  int64_t column_chunks() const { return DivideUp(columns, column_chunk); }
  int64_t points() const { return others * row_chunks() * column_chunks(); }
};

}  // namespace mxc
