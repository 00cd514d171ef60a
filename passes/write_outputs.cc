// SPDX-License-Identifier: Apache-2.0
// write-outputs: an output that the network reads again is read from where the
// caller gets it, not copied there.
//
//   p = softmax(x)                  p is the caller's output
//   out = p             ⇒           g = p − label
//   g = p − label
//
// What contractions read or write keeps its copy: their kernels choose a
// layout, and an output is row-major. So does what a view names in the arena.
#include <algorithm>

#include "passes/dead_code.h"
#include "passes/passes.h"
#include "passes/step_readers.h"
#include "passes/step_uses.h"

namespace mxc {
namespace {

// Every step that reads or writes the buffer takes it row-major.
bool RowMajorEverywhere(const Program& program, const StepUses& uses,
                        int buffer) {
  const auto row_major = [&](int s) {
    return program.steps[s].map() != nullptr && !program.steps[s].view;
  };
  const int writer = uses.WriterOf(buffer);
  return (writer < 0 || row_major(writer)) &&
         std::ranges::all_of(uses.ReadersOf(buffer), row_major);
}

}  // namespace

Result<bool> WriteOutputs(Program& program, PassContext&) {
  StepUses uses(program);
  bool changed = false;
  for (size_t s = program.steps.size(); s-- > 0;) {
    const Step& copy = program.steps[s];
    if (!CopiesToOutput(program, copy)) continue;
    const int from = copy.inputs[0], to = copy.outputs[0];
    if (!RowMajorEverywhere(program, uses, from)) continue;
    uses.Remove(static_cast<int>(s));
    uses.Redirect(from, to);
    changed = true;
  }
  if (!changed) return false;
  uses.Close();
  RemoveUnusedBuffers(program);
  return true;
}

}  // namespace mxc
