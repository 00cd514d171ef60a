// SPDX-License-Identifier: Apache-2.0
#include "frontend/mxnet/subgraphs/loop_scan.h"

#include <algorithm>
#include <utility>

namespace mxc {

Status ExpandInside(Subgraph& subgraph, const std::vector<TensorType>& types) {
  for (size_t i = 0; i < subgraph.variables.size(); ++i) {
    Node* variable = subgraph.graph.FindVariable(subgraph.variables[i]->name);
    if (!variable->types[0].known()) variable->types[0] = types[i];
  }
  const Result<bool> expanded = ExpandAll(subgraph.graph);
  if (!expanded.ok()) return expanded.errors();
  return Done{};
}

TensorType SliceOf(TensorType stacked) {
  if (stacked.shape.known_rank() && stacked.shape.rank() > 0) {
    const Extents& dims = stacked.shape.dims();
    stacked.shape = Shape(Extents(dims.begin() + 1, dims.end()));
  }
  return stacked;
}

bool MayBeTurn(const Subgraph& subgraph) {
  const std::vector<Node*> nodes = subgraph.graph.TopologicalOrder();
  return std::ranges::all_of(nodes, [](const Node* node) {
    if (node->kind == Node::Kind::kVariable) return true;
    const Operator* op = node->op;
    return op != nullptr && op->gradient && !node->IsLossHead() &&
           node->NextStates() == 0;
  });
}

ScanBuilder::Outputs AddScan(ScanBuilder& scan, Expansion& expansion) {
  ScanBuilder::Description described = scan.Describe();
  return scan.Sorted(expansion.Add("_scan", std::move(described.inputs),
                                   std::move(described.attrs), "turns"));
}

}  // namespace mxc
