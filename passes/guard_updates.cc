// SPDX-License-Identifier: Apache-2.0
// guard-updates: a run whose loss is not finite changes no state, so that it
// can be made again to find where the first wrong number came from.
//
//   update moving = next   ⇒   update moving = loss finite ? next : moving
//
// An update that reads the loss itself, or what is not finite where the loss is
// not (GuardOf), guards itself: those of an optimizer, where the choice is part
// of the one step over the parameter.
#include <algorithm>

#include "ir/optimizers/update_builder.h"
#include "passes/loss_scale.h"
#include "passes/passes.h"

namespace mxc {
namespace {

bool IsInput(const Node& node, Value value) {
  return std::ranges::count(node.inputs, value) > 0;
}

}  // namespace

Result<bool> GuardUpdates(Graph& graph, PassContext&) {
  const Value loss = graph.OutputOf(TensorRole::kLoss), guard = GuardOf(graph);
  if (!loss) return false;
  bool changed = false;
  for (Update& update : graph.updates) {
    const Node& next = *update.next.node;
    if (IsInput(next, loss) || IsInput(next, guard)) continue;
    GraphBuilder builder(graph, *update.variable);
    update.next = Guarded(builder, loss, update.next, update.variable->out());
    changed = true;
  }
  return changed;
}

}  // namespace mxc
