// SPDX-License-Identifier: Apache-2.0
// remove-identities: an operator that yields one of its inputs is left out.
//
//   x ─► Dropout ─► y      ⇒      x ─► y        (at inference)
//
// Which operators these are is read from their meaning: an output whose
// element i is element i of an input, of the same type. So this covers Dropout,
// BlockGrad, _copy, loss heads, a Cast to the same type, a Reshape to the same
// shape, a slice of everything, without naming any.
#include "ir/program/definition.h"
#include "ir/program/steps/contraction.h"
#include "ir/program/steps/map.h"
#include "passes/node_values.h"
#include "passes/passes.h"
#include "passes/step_readers.h"

namespace mxc {
namespace {

// The input that output `output` of the node equals, or -1.
int SameAsInput(const Node& node, int output,
                const std::vector<Store>& stores) {
  const Store* only = nullptr;
  for (const Store& store : stores) {
    if (store.output != output) continue;
    if (only != nullptr) return -1;
    only = &store;
  }
  if (only == nullptr) return -1;
  const TensorType& type = node.types[output];
  Store whole = *only;
  whole.value = Simplify(only->value, BoxOf(only->begin, only->extent));
  const Expr value = WithIdentityUnitIndices(whole);
  if (value->kind != ExprKind::kLoad || !IsIdentityIndex(value->args))
    return -1;
  return node.inputs[value->index].type() == type ? value->index : -1;
}

bool Bypass(const Graph& graph, Node& node, const ReaderCounts& readers,
            Replacements& replaced) {
  if (node.kind != Node::Kind::kOperator || IsRandom(graph, node)) {
    return false;
  }
  if (!node.op->meaning || node.op->contraction) return false;
  if (node.op->view && node.inputs[0].type() == node.types[0]) {
    replaced.Add(node.out(), node.inputs[0]);
    return true;
  }
  Definition definition(node, graph.training);
  node.op->meaning(node.attrs.get(), definition);
  bool bypassed = false;
  for (int i = 0; i < static_cast<int>(node.types.size()); ++i) {
    const int input = SameAsInput(node, i, definition.stores());
    if (input < 0 || readers.Of(node.out(i)) == 0) continue;
    replaced.Add(node.out(i), node.inputs[input]);
    bypassed = true;
  }
  return bypassed;
}

}  // namespace

Result<bool> RemoveIdentities(Graph& graph, PassContext&) {
  const ReaderCounts readers(graph);
  Replacements replaced;
  bool changed = false;
  for (Node* node : graph.TopologicalOrder()) {
    replaced.ApplyTo(*node);
    changed |= Bypass(graph, *node, readers, replaced);
  }
  if (!changed) return false;
  graph.ReplaceUses(replaced);
  graph.RemoveDeadNodes();
  return true;
}

}  // namespace mxc
