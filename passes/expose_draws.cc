// SPDX-License-Identifier: Apache-2.0
// expose-draws: what draws random numbers in a loop, or for a choice, is written
// out as a function of the random state, so that a turn may draw, and a side.
//
//   x ─► _scan ─► y     ⇒    random ─► state ─► _scan ─► y
//        (Dropout)                         x ─►  (a mask, of the state; the next
//                                                 turn has the next one)
//
// The first turn's state is the seed with the loop's stream, since nodes of two
// loops may have the same, and the counter · turns; each turn adds 1. No two
// turns of all runs have the same state, but the one that computes gradients has
// that of the turn whose they are. Loops in a turn draw by the turn's state.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "ir/graph/builder.h"
#include "ir/graph/inner_graph.h"
#include "ir/graph/scan_form.h"
#include "ir/ops/operators.h"
#include "ir/ops/tensor/shape/concat.h"
#include "passes/decompose.h"
#include "passes/node_values.h"
#include "passes/passes.h"

namespace mxc {
namespace {

// The name of the random state (GraphBuilder::RandomState).
constexpr const char* kState = "random";

Result<bool> ExposeInLoops(Graph& graph);

bool Draws(const Graph& graph, const Node& node) {
  return node.kind == Node::Kind::kOperator && IsRandom(graph, node);
}

bool IsScan(const Node& node) {
  return node.kind == Node::Kind::kOperator && node.op->scan;
}

// The random state of the first turn.
Value FirstState(GraphBuilder& b, int64_t turns) {
  const auto stream = static_cast<double>(b.Stream("turns") >> 11);
  const Value random = b.RandomState();
  const Value seed = b.Add(
      b.SliceAxis(random, 0, 0, 1),
      b.Constant(Tensor::Filled({DType::kI64, Shape{1}}, stream), "stream"));
  const Value counter =
      b.Mul(b.SliceAxis(random, 0, 1, 2), static_cast<double>(turns));
  return b.Op<op::Concat>({seed, counter}, {.num_args = 2, .dim = 0}, kState);
}

// The graph of a turn that draws, with the random state as its last carried
// input; else empty, and the loop remains as it is.
Result<std::string> DrawingTurn(const Node& scan, const ScanForm& form,
                                bool training) {
  MXC_ASSIGN(Graph turn, TurnOf(form, scan.inputs));
  turn.training = training;
  MXC_RETURN_IF_ERROR(InferTypes(turn, true));
  MXC_RETURN_IF_ERROR(ExposeInLoops(turn));
  MXC_RETURN_IF_ERROR(DecomposeWhere(turn, Draws));
  if (turn.updates.empty()) return std::string();
  const Update random = turn.updates[0];
  MXC_CHECK(turn.updates.size() == 1 && random.variable->name == kState,
            "'{}' has states", scan.name);
  turn.updates.clear();
  turn.outputs.insert(turn.outputs.begin() + form.carried, random.next);
  turn.output_names.insert(turn.output_names.begin() + form.carried, kState);
  // From the last one on, so that no two have the same name.
  const int place = form.slices + form.carried;
  for (int i = static_cast<int>(scan.inputs.size()); i-- > place;) {
    turn.FindVariable(InnerVariable(i))->name = InnerVariable(i + 1);
  }
  random.variable->name = InnerVariable(place);
  random.variable->role = VariableRole::kInput;
  random.variable->declared = true;
  return Print(turn);
}

std::vector<AttrText> WithState(const Node& scan, const ScanForm& form,
                                const std::string& body) {
  std::vector<AttrText> attrs = scan.op->print(scan.attrs.get());
  const auto set = [&](const char* name, std::string text) {
    std::erase_if(attrs, [&](const AttrText& a) { return a.first == name; });
    attrs.emplace_back(name, std::move(text));
  };
  set("num_args", std::to_string(scan.inputs.size() + 1));
  set("carried", std::to_string(form.carried + 1));
  set("body", body);
  return attrs;
}

// Replaces the outputs of a scan by those of one that carries one value more,
// behind the others.
void ReplaceOutputs(Node& scan, const ScanForm& form,
                    const std::vector<Value>& outputs, Replacements& replaced) {
  for (int i = 0; i < static_cast<int>(scan.types.size()); ++i) {
    replaced.Add(scan.out(i), outputs[i < form.carried ? i : i + 1]);
  }
}

// Exposes the draws of scans, and of those in their turns.
Result<bool> ExposeInLoops(Graph& graph) {
  Replacements replaced;
  bool changed = false;
  for (Node* node : graph.TopologicalOrder()) {
    replaced.ApplyTo(*node);
    if (!IsScan(*node)) continue;
    const ScanForm form = node->op->scan(node->attrs.get());
    MXC_ASSIGN(const std::string body,
               DrawingTurn(*node, form, graph.training));
    if (body.empty()) continue;
    GraphBuilder builder(graph, *node);
    std::vector<Value> inputs = node->inputs;
    inputs.insert(inputs.begin() + form.slices + form.carried,
                  FirstState(builder, form.turns));
    const std::vector<Value> outputs = builder.Ops(
        *node->op, std::move(inputs), WithState(*node, form, body), "turns");
    ReplaceOutputs(*node, form, outputs, replaced);
    changed = true;
  }
  graph.ReplaceUses(replaced);
  if (changed) graph.RemoveDeadNodes();
  return changed;
}

}  // namespace

Result<bool> ExposeDraws(Graph& graph, PassContext&) {
  MXC_ASSIGN(const bool in_loops, ExposeInLoops(graph));
  const bool chooses = std::ranges::any_of(graph.nodes(), [](const auto& node) {
    return node->kind == Node::Kind::kOperator && node->Is("_choose");
  });
  if (!chooses) return in_loops;
  MXC_ASSIGN(const bool beside, DecomposeWhere(graph, Draws));
  return in_loops || beside;
}

}  // namespace mxc
