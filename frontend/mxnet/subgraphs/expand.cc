// SPDX-License-Identifier: Apache-2.0
#include "frontend/expanded.h"
#include "frontend/frontend.h"
#include "frontend/mxnet/subgraphs/expansion.h"
#include "frontend/variables.h"

namespace mxc {
namespace {

struct Rule {
  std::string_view op_name;
  Status (*expand)(Expansion& expansion);
};
constexpr Rule kRules[] = {{"_cond", ExpandCond},
                           {"_foreach", ExpandForeach},
                           {"_while_loop", ExpandWhileLoop},
                           // MXNet 2.0's, of arrays as NumPy has them.
                           {"_npx_cond", ExpandCond},
                           {"_npx_foreach", ExpandForeach},
                           {"_npx_while_loop", ExpandWhileLoop},
                           {"_sg_mkldnn_conv", ExpandFusedLayer},
                           {"_sg_mkldnn_fully_connected", ExpandFusedLayer}};

const Rule* RuleOf(const Node& node) {
  if (node.kind != Node::Kind::kOpaque || node.written.subgraphs.empty()) {
    return nullptr;
  }
  for (const Rule& rule : kRules) {
    if (rule.op_name == node.op_name) return &rule;
  }
  return nullptr;
}

Node* FirstWithSubgraphs(const Graph& graph) {
  for (Node* node : graph.TopologicalOrder()) {
    if (RuleOf(*node) != nullptr) return node;
  }
  return nullptr;
}

}  // namespace

Result<bool> ExpandAll(Graph& graph) {
  bool any = false;
  while (Node* node = FirstWithSubgraphs(graph)) {
    if (std::ssize(graph.nodes()) > 4 * kMostCopies) {
      return Error(node->loc, "more than {} nodes of nested loops",
                   4 * kMostCopies);
    }
    // Shapes as far as they follow: they say how often _foreach runs.
    MXC_RETURN_IF_ERROR(InferTypes(graph, false));
    Expansion expansion(graph, *node);
    MXC_RETURN_IF_ERROR(RuleOf(*node)->expand(expansion));
    any = true;
  }
  return any;
}

bool IsExpanded(const Node& node) { return RuleOf(node) != nullptr; }

Status ExpandSubgraphs(Graph& graph) {
  MXC_ASSIGN(const bool any, ExpandAll(graph));
  if (any) {
    graph.RemoveDeadNodes();
    AssignRoles(graph);
  }
  return Done{};
}

}  // namespace mxc
