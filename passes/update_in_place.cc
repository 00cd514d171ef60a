// SPDX-License-Identifier: Apache-2.0
// update-in-place: the next value of a state is written over the state.
//
//   m' = f(m, g, w)             m' aliases m, w' aliases w; the step that reads
//   w' = w + m'           ⇒     the old w runs before the one that writes w'
//
// A step may write over a state that it reads if it reads it at the index that
// it writes. Where it reads it elsewhere, or where two steps would each have to
// run before the other, the next value is computed beside the state and copied
// last.
#include <algorithm>

#include "ir/program/copy_step.h"
#include "passes/passes.h"
#include "passes/sharing.h"
#include "passes/state_order.h"

namespace mxc {
namespace {

int WriterOf(const Program& program, int buffer) {
  for (size_t s = 0; s < program.steps.size(); ++s) {
    if (std::ranges::count(program.steps[s].outputs, buffer) > 0) {
      return static_cast<int>(s);
    }
  }
  MXC_CHECK(false, "buffer '{}' is not written", program.buffers[buffer].name);
}

// The writer of `next` writes a buffer of its own, which is copied at the end.
void WriteAside(Program& program, int writer, int next) {
  Buffer aside = program.buffers[next];
  aside.name += "/aside";
  aside.kind = BufferKind::kInternal;
  aside.state = -1;
  program.buffers.push_back(std::move(aside));
  const int buffer = static_cast<int>(program.buffers.size()) - 1;
  for (Step& step : program.steps) {
    std::ranges::replace(step.inputs, next, buffer);
    std::ranges::replace(step.outputs, next, buffer);
  }
  const Step& origin = program.steps[writer];
  program.steps.push_back(CopyStep(program, buffer, next,
                                   origin.name + "/store", origin.origins,
                                   origin.loc));
}

}  // namespace

Result<bool> UpdateInPlace(Program& program, PassContext&) {
  const std::vector<int> nexts = program.BuffersOf(BufferKind::kNextState);
  StateOrder order(program);
  for (const int next : nexts) {
    const int writer = WriterOf(program, next);
    const bool legal = MayWriteOver(program, program.steps[writer],
                                    program.buffers[next].state) &&
                       order.WriteAfterReads(next, writer);
    if (!legal) WriteAside(program, writer, next);
    program.buffers[next].alias_of = program.buffers[next].state;
  }
  if (nexts.empty()) return false;
  SortByDependencies(program);
  return true;
}

}  // namespace mxc
