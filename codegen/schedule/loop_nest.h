// SPDX-License-Identifier: Apache-2.0
// LoopNest: the loops in which outputs of a Map step are computed, one or
// several of equal shapes and layouts. They run over the physical dimensions of
// the layout, which are merged where memory runs on, cut where an index is
// taken apart, ordered so that reductions are computed once, and dealt as a
// fixed grid of tasks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "codegen/schedule/address_form.h"
#include "codegen/schedule/dealing.h"
#include "ir/program/program.h"
#include "ir/target/machine.h"

namespace mxc {

struct LoopDim {
  int var = 0;
  int64_t extent = 0;
  int64_t stride = 0;  // of the outputs, in elements
};

// A border of the outputs that is zeroed: in each row, `low` elements from its
// begin on and `high` elements that begin `high_from` after it. The rows are
// all positions of `around`, outermost first.
struct ZeroBorder {
  struct Rows {
    int64_t extent = 0, stride = 0;
  };
  std::vector<Rows> around;
  int64_t low = 0, high = 0, high_from = 0;
  int64_t rows() const;
};

// A reduction over the lane dim whose terms are also written to an output: the
// term at an index of the range to that offset.
struct KeptTerms {
  Expr reduce;
  int output = 0;  // operand number
  Affine offset;
};

struct LoopNest {
  // For each output its operand number and its element, an address form over
  // the loops' variables.
  std::vector<int> outputs;
  std::vector<Expr> values;
  std::vector<LoopDim> dims;  // outermost first
  int64_t base = 0;           // offset of the first element
  int lane_dim = -1;          // which of dims runs over lanes, -1: none
  int lanes = 1;              // width of vectors
  int sum_lanes = 1;          // of vectors in whose order sums are added, or 1
  // The lane dim is no more than one vector, which stays the same all the time:
  // what depends on the lane alone is hoisted out of all loops.
  bool one_vector = false;
  std::vector<ZeroBorder> borders;
  // Computed for each row of lanes before the values, which load the terms.
  std::vector<KeptTerms> kept;

  // Chunks of the row dim, then the leading `grid_dims` dims and, last, the
  // chunks of the lane dim are dealt in equal shares to `tasks` tasks.
  int row_dim = -1;        // -1: none is cut
  int64_t row_chunks = 1;  // nearly equal
  int grid_dims = 0;
  int64_t lane_chunk = 0;  // elements; 0: the lane dim is not cut
  int64_t tasks = 1;
  double nanoseconds = 0;  // estimated, on one thread

  int64_t GridSize() const;
  // Returns whether each of several tasks has equally many elements that lie
  // side by side, and their order is that of the tasks.
  bool IsEven() const;
  Affine Offset() const;
  IntervalOf Ranges() const;
};

// What the schedule must know of the step's operands.
struct NestOperand {
  DType dtype = DType::kF32;
  Layout layout;
};

// The stores of one output, and the operand where they go.
struct NestOutput {
  int operand = 0;
  std::vector<const Store*> stores;
  bool shares_bytes = true;  // with another operand, perhaps
};

// The outputs have one shape and one layout. `masked_tails`: vectors can be
// partly written.
LoopNest ScheduleNest(std::span<const NestOutput> outputs, const Shape& shape,
                      std::span<const NestOperand> operands,
                      const Machine& machine, const Dealing& dealing,
                      bool masked_tails);

}  // namespace mxc
