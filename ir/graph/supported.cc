// SPDX-License-Identifier: Apache-2.0
#include "ir/graph/supported.h"

#include <set>
#include <tuple>

#include "ir/support/nearest.h"

namespace mxc {

bool CanBeCompiled(const Operator& op) {
  return op.meaning || op.procedure || op.step || op.scan || op.branch ||
         op.call || op.decompose;
}

const Operator* KnownOperator(std::string_view op_name,
                              std::span<const AttrText> attrs,
                              std::string& why) {
  const Operator* op = FindPublicOperator(op_name);
  if (op == nullptr || !op->unknown) return op;
  why = op->unknown(attrs).value_or("");
  return why.empty() ? op : nullptr;
}

void ReportUnknown(const SourceLoc& loc, std::string_view op_name,
                   std::string_view node_name, std::string_view why,
                   Diagnostics& errors) {
  if (!why.empty()) {
    errors.push_back(Error(loc, "{} '{}': {}", op_name, node_name, why));
    return;
  }
  const std::string_view nearest =
      errors.full() ? std::string_view() : NearestOperator(op_name);
  errors.push_back(Error(loc, "operator '{}' of node '{}' is unknown{}",
                         op_name, node_name, NearestNote(nearest)));
}

Status RequireSupported(const Graph& graph) {
  Diagnostics errors;
  std::set<std::tuple<uint32_t, uint32_t, std::string_view>> told;
  for (const Node* node : graph.TopologicalOrder()) {
    const bool unknown = node->kind == Node::Kind::kOpaque;
    if (!unknown && (node->op == nullptr || CanBeCompiled(*node->op))) continue;
    const SourceLoc& loc = node->loc;
    const bool first = told.emplace(loc.line, loc.column, node->op_name).second;
    if (loc.known() && !first) continue;
    if (unknown) {
      ReportUnknown(loc, node->op_name, node->name, node->why_unknown, errors);
    } else {
      errors.push_back(
          Error(loc, "operator '{}' of node '{}' cannot be compiled yet",
                node->op->name, node->name));
    }
  }
  if (!errors.empty()) return errors;
  return Done{};
}

}  // namespace mxc
