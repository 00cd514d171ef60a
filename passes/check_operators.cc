// SPDX-License-Identifier: Apache-2.0
// check-operators: a network that uses operators we lack is refused before any
// other work, with all of them, each at its place in the user's file. A softmax
// of a softmax is told: it is a mistake that no loss shows.
#include <algorithm>
#include <string_view>

#include "ir/graph/supported.h"
#include "passes/passes.h"

namespace mxc {
namespace {

bool IsSoftmax(const Node& node) {
  static constexpr std::string_view kNames[] = {"softmax", "SoftmaxActivation"};
  return node.kind == Node::Kind::kOperator &&
         std::ranges::count(kNames, node.op->name) > 0;
}

void NoteSoftmaxTwice(const Graph& graph, Diagnostics& notes) {
  for (const Node* node : graph.TopologicalOrder()) {
    if (node->kind != Node::Kind::kOperator ||
        node->op->name != "SoftmaxOutput" ||
        !IsSoftmax(*node->inputs[0].node)) {
      continue;
    }
    notes.push_back(
        Error(node->loc,
              "softmax twice: SoftmaxOutput '{}' takes what {} '{}' has made "
              "probabilities; its own stay near to each other, and the network "
              "learns slowly",
              node->name, node->inputs[0].node->op->name,
              node->inputs[0].node->name));
  }
}

}  // namespace

Result<bool> CheckOperators(Graph& graph, PassContext& context) {
  MXC_RETURN_IF_ERROR(RequireSupported(graph));
  if (context.notes != nullptr) NoteSoftmaxTwice(graph, *context.notes);
  return false;
}

}  // namespace mxc
