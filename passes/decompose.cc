// SPDX-License-Identifier: Apache-2.0
// decompose: an operator that is defined by smaller ones is replaced by them,
// again and again until every operator has a meaning of its own. One that has
// both, and offers no parts for this node, keeps its meaning.
//
//   x ─► RNN ─► y      ⇒      x ─► FullyConnected ─► Activation ─► … ─► y
#include <set>

#include "ir/graph/builder.h"
#include "passes/decompose.h"
#include "passes/passes.h"

namespace mxc {
namespace {

// Deeper nesting than any composition has; reaching it means that an operator
// is defined by itself.
constexpr int kMaxNesting = 16;

bool Composite(const Node& node) {
  return node.kind == Node::Kind::kOperator && node.op->decompose;
}

// Some dozen operators may stand for thousands of steps each.
constexpr size_t kMostOperators = 1'000'000;

// `known`: those that were decomposed before.
Result<bool> DecomposeOnce(Graph& graph,
                           bool (*chosen)(const Graph&, const Node&),
                           std::set<const Node*>& known) {
  Replacements replaced;
  bool changed = false;
  for (Node* node : graph.TopologicalOrder()) {
    replaced.ApplyTo(*node);
    if (!Composite(*node) || !chosen(graph, *node)) continue;
    if (graph.nodes().size() > kMostOperators) {
      return Error(node->loc,
                   "the network has more than {} operators when {} '{}' is "
                   "written out",
                   kMostOperators, node->op_name, node->name);
    }
    GraphBuilder builder(graph, *node);
    const std::vector<Value> parts =
        node->op->decompose(node->attrs.get(), *node, builder);
    const bool whole = node->op->meaning || node->op->procedure;
    if (parts.empty() && whole) continue;
    MXC_CHECK(parts.size() <= node->types.size(), "operator '{}'",
              node->op->name);
    if (!known.insert(node).second) {
      return Error(node->loc,
                   "{} '{}' is read at an output that is not supported, "
                   "expected one of its first {}",
                   node->op_name, node->name, parts.size());
    }
    for (size_t i = 0; i < parts.size(); ++i) {
      MXC_CHECK(parts[i].type() == node->types[i],
                "operator '{}': output {} has type {}, its parts {}",
                node->op->name, i, ToString(node->types[i]),
                ToString(parts[i].type()));
      replaced.Add(node->out(static_cast<int>(i)), parts[i]);
    }
    changed = true;
  }
  graph.ReplaceUses(replaced);
  return changed;
}

}  // namespace

Result<bool> DecomposeWhere(Graph& graph,
                            bool (*chosen)(const Graph&, const Node&)) {
  bool changed = false, again = true;
  std::set<const Node*> known;
  for (int depth = 0; again; ++depth) {
    MXC_CHECK(depth <= kMaxNesting);
    MXC_ASSIGN(again, DecomposeOnce(graph, chosen, known));
    changed = changed || again;
  }
  if (changed) graph.RemoveDeadNodes();
  return changed;
}

Result<bool> Decompose(Graph& graph, PassContext&) {
  return DecomposeWhere(graph, [](const Graph&, const Node&) { return true; });
}

}  // namespace mxc
