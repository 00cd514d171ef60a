// SPDX-License-Identifier: Apache-2.0
#include "tools/operator_use.h"

#include <iterator>

#include "frontend/expanded.h"
#include "ir/graph/supported.h"
#include "ir/support/nearest.h"

namespace mxc {
namespace {

OperatorUse Classify(const Node& node) {
  OperatorUse use;
  use.first = &node;
  if (node.kind == Node::Kind::kOpaque && IsExpanded(node)) {
    use.status = "supported";
  } else if (node.kind == Node::Kind::kOpaque) {
    use.status = "unknown" + NearestNote(NearestOperator(node.op_name));
  } else {
    use.status = CanBeCompiled(*node.op) ? "supported" : "not compiled yet";
  }
  return use;
}

}  // namespace

std::map<std::string, OperatorUse> OperatorsOf(const Graph& graph) {
  std::map<std::string, OperatorUse> uses;
  for (const Node* node : graph.TopologicalOrder()) {
    if (node->kind != Node::Kind::kOperator &&
        node->kind != Node::Kind::kOpaque) {
      continue;
    }
    const std::string name =
        node->kind == Node::Kind::kOpaque ? node->op_name : node->op->name;
    const auto [use, added] = uses.try_emplace(name);
    if (added) use->second = Classify(*node);
    ++use->second.count;
  }
  return uses;
}

Json OperatorsToJson(const std::map<std::string, OperatorUse>& uses) {
  Json list = Json::array();
  for (const auto& [name, use] : uses) {
    const SourceLoc& loc = use.first->loc;
    list.push_back({{"name", name},
                    {"count", use.count},
                    {"status", use.status},
                    {"file", loc.file ? loc.file->path : ""},
                    {"line", loc.line},
                    {"column", loc.column},
                    {"path", loc.path}});
  }
  return list;
}

void PrintOperators(const std::map<std::string, OperatorUse>& uses) {
  int nodes = 0, refused = 0;
  for (const auto& [name, use] : uses) {
    nodes += use.count;
    const bool supported = use.status == "supported";
    PrintOut("{} {:<28} {:>4}  {}", supported ? " " : "!", name, use.count,
             use.status);
    if (!supported) {
      ++refused;
      const SourceLoc& loc = use.first->loc;
      if (loc.known()) {
        PrintOut("  {}:{}:{}", loc.file->path, loc.line, loc.column);
      }
    }
    PrintOut("\n");
  }
  PrintOut("{} nodes of {}", nodes, Count(std::ssize(uses), "operator"));
  if (refused > 0) PrintOut(", {} cannot be compiled", refused);
  PrintOut("\n");
}

}  // namespace mxc
