// SPDX-License-Identifier: Apache-2.0
#include "ir/program/memory.h"

#include <algorithm>

#include "ir/program/steps/branch.h"
#include "ir/program/steps/repeat.h"

namespace mxc {

Memory MemoryOf(const Program& program) {
  return {.arena = program.arena_bytes(),
          .arena_lower_bound = program.lower_bound_bytes,
          .arena_naive = program.naive_bytes,
          .host_arena = program.ArenaBytesOf(PlaceKind::kHost),
          .outputs = OutputBytes(program),
          .workspace = WorkspaceBytes(program)};
}

int64_t HostBytesInside(const Program& program) {
  const auto of = [](const Program& inside) {
    return inside.ArenaBytesOf(PlaceKind::kHost);
  };
  int64_t bytes = 0;
  for (const Step& step : program.steps) {
    if (const Repeat* repeat = step.body.As<Repeat>()) {
      bytes = std::max(bytes, of(*repeat->body));
    } else if (const Branch* branch = step.body.As<Branch>()) {
      bytes = std::max({bytes, of(*branch->then), of(*branch->otherwise)});
    }
  }
  return bytes;
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
