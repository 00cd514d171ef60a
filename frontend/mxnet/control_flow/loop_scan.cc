// SPDX-License-Identifier: Apache-2.0
#include "frontend/mxnet/control_flow/loop_scan.h"

#include <algorithm>
#include <utility>

namespace mxc {

bool MayBeTurn(const Subgraph& subgraph) {
  return std::ranges::all_of(subgraph.graph.nodes(), [](const auto& node) {
    if (node->kind == Node::Kind::kVariable) return true;
    const Operator* op = node->op;
    return op != nullptr && op->gradient && !op->random && !op->loss_head &&
           op->next_states == 0;
  });
}

ScanBuilder::Outputs AddScan(ScanBuilder& scan, Expansion& expansion) {
  ScanBuilder::Description described = scan.Describe();
  return scan.Sorted(expansion.Add("_scan", std::move(described.inputs),
                                   std::move(described.attrs), "turns"));
}

}  // namespace mxc
