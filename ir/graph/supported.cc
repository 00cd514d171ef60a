// SPDX-License-Identifier: Apache-2.0
#include "ir/graph/supported.h"

#include <map>

#include "ir/support/nearest.h"

namespace mxc {

bool CanBeCompiled(const Operator& op) {
  return op.meaning || op.procedure || op.scan || op.branch || op.call ||
         op.decompose;
}

Status RequireSupported(const Graph& graph) {
  Diagnostics errors;
  std::map<std::string_view, std::string_view> nearest;  // found once a name
  for (const Node* node : graph.TopologicalOrder()) {
    if (node->kind == Node::Kind::kOpaque) {
      const auto [found, added] = nearest.try_emplace(node->op_name);
      if (added) found->second = NearestOperator(node->op_name);
      errors.push_back(
          Error(node->loc, "operator '{}' of node '{}' is unknown{}",
                node->op_name, node->name, NearestNote(found->second)));
    } else if (node->kind == Node::Kind::kOperator &&
               !CanBeCompiled(*node->op)) {
      errors.push_back(
          Error(node->loc, "operator '{}' of node '{}' cannot be compiled yet",
                node->op->name, node->name));
    }
  }
  if (!errors.empty()) return errors;
  return Done{};
}

}  // namespace mxc
