// SPDX-License-Identifier: Apache-2.0
// Dealing: how machines of a kind share the work of a step, as its back end
// states it. Schedules and loops ask these facts, and no other file asks which
// machine it is. Whatever is decided depends on the step and the target alone,
// never on the number of threads that run.
#pragma once

#include <span>

#include "codegen/schedule/scatter_grid.h"
#include "ir/graph/tensor.h"
#include "ir/target/target.h"

namespace mxc {

struct LoopNest;

struct Dealing {
  // A kernel computes the one task that it is told; else a range of tasks.
  bool one_task_each = false;
  // The last vector of a row may be written under a mask, if the target has
  // instructions for that.
  bool masked_tails = false;
  // Sums are added in the order of whole vectors of the machine, whatever is
  // computed around them.
  bool sums_in_vectors = false;
  // What jumps from lane to lane is read from a cache: lanes are worth it if more
  // loads run on along them than along a reduction.
  bool cached_jumps = false;
  // Neighbouring outputs of a contraction that is written out as a sum run over
  // the same positions of its kernel, whatever data each of them meets.
  bool common_taps = false;

  // Vectors of so many bytes come with registers for two of them side by side
  // where rows are added in a wider type: half as many pieces of each row, which
  // lie apart. 0: none do.
  int least_bytes_of_two = 0;

  // Returns whether rows that data name are asked for before they are needed: an
  // instruction does that, and a core waits for them else; null: it is not so.
  bool (*fetches_rows)(const Target& target) = nullptr;
  // Lanes of the vectors of a nest whose operands have these types in memory.
  // At least 1, a power of 2.
  int (*lanes)(const Machine& machine, std::span<const DType> types) = nullptr;
  // Deals a nest, in which terms may be kept, otherwise than DealTasks did; null:
  // that stays.
  void (*deal)(LoopNest& nest) = nullptr;
  // Sets the chunks and tasks of a sum at positions; may lower its lanes.
  void (*deal_scatter)(const Target& target, ScatterGrid& grid) = nullptr;
};

}  // namespace mxc
