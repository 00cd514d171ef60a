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

#include "passes/passes.h"
#include "passes/step_readers.h"
#include "passes/sweep.h"

namespace mxc {
namespace {

// The step does nothing but copy an internal buffer to an output.
bool CopiesToOutput(const Program& program, const Step& step) {
  const Map* map = step.map();
  if (map == nullptr || step.view || map->stores.size() != 1) return false;
  if (step.inputs.size() != 1 || step.outputs.size() != 1) return false;
  const Buffer& from = program.buffers[step.inputs[0]];
  const Buffer& to = program.buffers[step.outputs[0]];
  const Store& store = map->stores[0];
  return from.kind == BufferKind::kInternal && to.kind == BufferKind::kOutput &&
         from.type == to.type && CoversOutput(program, step, store) &&
         store.value->kind == ExprKind::kLoad && IsOwnIndex(store.value->args);
}

// Every step that reads or writes the buffer takes it row-major.
bool RowMajorEverywhere(const Program& program, int buffer) {
  return std::ranges::all_of(program.steps, [&](const Step& step) {
    const bool uses = std::ranges::count(step.inputs, buffer) > 0 ||
                      std::ranges::count(step.outputs, buffer) > 0;
    return !uses || (step.map() != nullptr && !step.view);
  });
}

}  // namespace

Result<bool> WriteOutputs(Program& program, PassContext&) {
  bool changed = false;
  for (size_t s = program.steps.size(); s-- > 0;) {
    const Step& copy = program.steps[s];
    if (!CopiesToOutput(program, copy)) continue;
    const int from = copy.inputs[0], to = copy.outputs[0];
    if (!RowMajorEverywhere(program, from)) continue;
    program.steps.erase(program.steps.begin() + static_cast<std::ptrdiff_t>(s));
    for (Step& step : program.steps) {
      std::ranges::replace(step.inputs, from, to);
      std::ranges::replace(step.outputs, from, to);
    }
    changed = true;
  }
  if (changed) DropUnusedBuffers(program);
  return changed;
}

}  // namespace mxc
