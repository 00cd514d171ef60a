// SPDX-License-Identifier: Apache-2.0
#include "ir/program/memory.h"

#include <algorithm>

namespace mxc {

Memory MemoryOf(const Program& program) {
  return {.arena = program.arena_bytes,
          .arena_lower_bound = program.lower_bound_bytes,
          .arena_naive = program.naive_bytes,
          .host_arena = program.host_arena_bytes,
          .outputs = OutputBytes(program),
          .workspace = WorkspaceBytes(program)};
}

int64_t OutputBytes(const Program& program) {
  int64_t bytes = 0;
  for (const int output : program.BuffersOf(BufferKind::kOutput)) {
    bytes += program.buffers[output].bytes();
  }
  return bytes;
}

int64_t WorkspaceBytes(const Program& program) {
  int64_t bytes = 0;
  for (const Step& step : program.steps) {
    bytes = std::max(bytes, step.scratch_bytes);
  }
  return bytes;
}

}  // namespace mxc
