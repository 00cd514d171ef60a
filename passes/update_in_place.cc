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
#include "passes/step_uses.h"

namespace mxc {
namespace {

// The writer of `next` writes a buffer of its own, which is copied at the end.
void WriteAside(Program& program, StepUses& uses, int writer, int next) {
  Buffer aside = program.buffers[next];
  aside.name += "/aside";
  aside.kind = BufferKind::kInternal;
  aside.state = -1;
  program.buffers.push_back(std::move(aside));
  const int buffer = static_cast<int>(program.buffers.size()) - 1;
  uses.Redirect(next, buffer);
  const Step& origin = program.steps[writer];
  program.steps.push_back(CopyStep(program, buffer, next,
                                   origin.name + "/store", origin.origins,
                                   origin.loc));
}

}  // namespace

Result<bool> UpdateInPlace(Program& program, PassContext&) {
  const std::vector<int> nexts = program.BuffersOf(BufferKind::kNextState);
  if (nexts.empty()) return false;
  StateOrder order(program);
  StepUses uses(program);
  for (const int next : nexts) {
    const int writer = uses.WriterOf(next);
    MXC_CHECK(writer >= 0, "buffer '{}' is not written",
              program.buffers[next].name);
    const bool legal = MayWriteOver(program, program.steps[writer],
                                    program.buffers[next].state) &&
                       order.WriteAfterReads(next, writer);
    if (!legal) WriteAside(program, uses, writer, next);
    program.buffers[next].alias_of = program.buffers[next].state;
  }
  SortByDependencies(program);
  return true;
}

}  // namespace mxc
