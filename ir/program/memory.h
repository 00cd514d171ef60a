// SPDX-License-Identifier: Apache-2.0
// What a run of a planned Program needs in memory beside inputs, weights and
// states: the one place that says so. The tables of an artifact hold these
// figures; inspect and the manifest show them.
#pragma once

#include <cstdint>

#include "ir/program/program.h"
#include "ir/support/division.h"

namespace mxc {

// Bytes to a multiple of which every buffer of an arena, every array of weights
// and every part of scratch begins: a cache line, and the widest vector.
inline constexpr int64_t kArenaAlignment = 64;

constexpr int64_t AlignedBytes(int64_t bytes) {
  return RoundUp(bytes, kArenaAlignment);
}

struct Memory {  // bytes
  // Of the arena: as planned; the largest sum of live bytes, which no placement
  // of this schedule is below; without any sharing.
  int64_t arena = 0, arena_lower_bound = 0, arena_naive = 0;
  int64_t host_arena =
      0;  // beside all others, where the device is not the host
  int64_t outputs = 0;
  int64_t workspace = 0;  // the largest scratch of a step, one thread's

  // Internal tensors as laid out, and outputs.
  int64_t activations() const { return arena + outputs; }
  // Outputs and workspace are part of all three.
  int64_t peak() const { return arena + outputs + workspace; }
  int64_t lower_bound() const {
    return arena_lower_bound + outputs + workspace;
  }
  int64_t naive() const { return arena_naive + outputs + workspace; }
};

Memory MemoryOf(const Program& program);

// Programs inside of steps that run on the host do so behind its own buffers, one
// step at a time: the last bytes of its arena there.
int64_t HostBytesInside(const Program& program);

// The part of it that is known before memory is planned.
int64_t OutputBytes(const Program& program);
int64_t WorkspaceBytes(const Program& program);

}  // namespace mxc
