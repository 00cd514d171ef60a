// SPDX-License-Identifier: Apache-2.0
// sink-views: what is only seen under another shape is computed in it.
//
//   p = softmax(s)    f32[1, 12, 64, 64]      p = softmax(s)    f32[12, 64, 64]
//   v = view of p     f32[12, 64, 64]     ⇒   o = batch_dot(p, …)
//   o = batch_dot(v, …)
//
// Steps that follow each other then count the same things along their first
// axis, by which later passes compute them part by part (tile-and-fuse). Where
// an axis but the first would be divided, loops would get slower: that stays.
#include "ir/program/steps/map.h"
#include "passes/dead_code.h"
#include "passes/passes.h"
#include "passes/reshaped_view.h"
#include "passes/step_readers.h"
#include "passes/step_uses.h"

namespace mxc {
namespace {

// The step that writes what `view` shows, over the indices of the view.
std::optional<Step> InShapeOfView(const Program& program, const Step& writer,
                                  const Step& view) {
  const int seen = view.inputs[0], output = view.outputs[0];
  const Map* map = writer.map();
  if (map == nullptr || writer.view || writer.outputs.size() != 1 ||
      map->stores.size() != 1 ||
      !CoversOutput(program, writer, map->stores[0])) {
    return std::nullopt;
  }
  Step moved = writer;
  Store& store = moved.map()->stores[0];
  store = ReshapedStore(store, program.buffers[seen].type.shape,
                        program.buffers[output].type.shape);
  const std::set<int> divided = DividedVariables(store.value);
  if (!divided.empty() && *divided.rbegin() > 0) return std::nullopt;
  moved.outputs = {output};
  return moved;
}

}  // namespace

Result<bool> SinkViews(Program& program, PassContext&) {
  StepUses uses(program);
  bool changed = false;
  for (size_t s = 0; s < program.steps.size(); ++s) {
    const Step& view = program.steps[s];
    if (!view.view || StepUses::IsEmptyPlace(view)) continue;
    const int seen = view.inputs[0];
    const int writer = uses.WriterOf(seen);
    const bool alone = program.buffers[seen].kind == BufferKind::kInternal &&
                       writer >= 0 &&
                       uses.OnlyReaderOf(seen) == static_cast<int>(s);
    if (!alone) continue;
    auto moved = InShapeOfView(program, program.steps[writer], view);
    if (!moved) continue;
    uses.Remove(static_cast<int>(s));
    uses.Replace(writer, std::move(*moved));
    changed = true;
  }
  if (!changed) return false;
  uses.Close();
  RemoveUnusedBuffers(program);
  return true;
}

}  // namespace mxc
