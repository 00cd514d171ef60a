// SPDX-License-Identifier: Apache-2.0
// Which operators a network has, and what becomes of them.
#pragma once

#include <map>
#include <string>

#include "ir/graph/graph.h"
#include "tools/terminal.h"

namespace mxc {

struct OperatorUse {
  int count = 0;
  std::string status;  // "supported", "not compiled yet", "unknown"
  const Node* first = nullptr;
};

// By the operator's name.
std::map<std::string, OperatorUse> OperatorsOf(const Graph& graph);

Json OperatorsToJson(const std::map<std::string, OperatorUse>& uses);
void PrintOperators(const std::map<std::string, OperatorUse>& uses);

}  // namespace mxc
