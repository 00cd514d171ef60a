// SPDX-License-Identifier: Apache-2.0
// StepShape: all that is decided about a contraction before its code is
// written. Self-contained, since code is written on another thread.
#pragma once

#include <cstdint>
#include <vector>

#include "codegen/cpu/contraction/nest.h"
#include "codegen/cpu/contraction/tiling.h"
#include "ir/program/program.h"
#include "ir/target/target.h"

namespace mxc::contraction {

struct StepShape {
  Nest nest;
  RegisterTile tile;
  // Beside those of the last full group, where that computes what is left over.
  int joined_vectors = 0;
  std::vector<TileRun> runs;
  Tasks tasks;
  // Iterations of nest.main.axes[0] between which sums wait in the output.
  int64_t step_block = 1;
  // Cache lines of the next weights that a tile fetches in each step.
  int64_t lines_ahead = 0;
  // Where weights come from memory once, to be widened: so far in front of those
  // in use each step fetches as many as it reads; else 0.
  int64_t bytes_ahead = 0;

  struct Operand {
    DType dtype = DType::kF32;
    Layout layout;
  };
  std::vector<Operand> operands;  // inputs, then the output
  Expr epilogue;
  int64_t scratch_bytes = 0;  // for each thread

  const Layout& output() const { return operands.back().layout; }
  // A last vector that is not full lies over other elements, unless its channel
  // block is padded.
  bool tail_meets_others() const {
    return nest.tail_lanes() != 0 && output().block(nest.channel_var) == 1;
  }
  int64_t task_count() const;
  // Groups of tile.vectors; `full` ones have no partial or joined vector.
  int64_t vector_groups() const;
  int64_t full_vector_groups() const;
  int64_t step_blocks() const;
  // Returns whether the output can hold sums of a part of the steps.
  bool sums_wait() const { return nest.types.output == nest.types.sum; }
};

// Inputs, then outputs.
std::vector<StepShape::Operand> OperandsOf(const Program& program,
                                           const Step& step);

// One for each nest of the step; they have the same tasks.
std::vector<StepShape> ShapeStep(const Program& program, const Step& step,
                                 const Target& target);

}  // namespace mxc::contraction
