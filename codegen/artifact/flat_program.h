// SPDX-License-Identifier: Apache-2.0
// An entry as the runtime walks it: a list of steps, in which the body of a
// repeat, the sides of a branch, or what a start begins, follow it, over one list
// of buffers.
//
//   begin                     0  begin
//   repeat 50 {               1  repeat 50, 2 steps
//     product, add     ⇒      2  product
//   }                         3  add
//   end                       4  end
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/program/program.h"

namespace mxc {

// What a turn of the repeat at step `loop` sees of buffer `root`, which is no
// alias: in turn t the bytes from `offset` + t · `advance` on.
struct TurnWindow {
  int loop = 0;  // row
  int root = 0;
  int64_t offset = 0, advance = 0;
};

struct FlatProgram {
  // Buffers of the entry, under their numbers, then those of bodies, of kind
  // kInternal. Steps of bodies name these.
  Program program;
  std::vector<int> rows;  // by step of the entry: where it is now
  // By row: how many rows after it are its body, or its first side; how many
  // after these are the other side.
  std::vector<int> bodies, others;
  std::vector<int> afters;  // by row: of a wait, the row of its start
  // By buffer. Memory is planned for none of them.
  std::vector<std::optional<TurnWindow>> windows;
};

// `entry` is planned.
FlatProgram Flatten(const Program& entry);

}  // namespace mxc
