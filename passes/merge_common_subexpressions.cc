// SPDX-License-Identifier: Apache-2.0
// merge-common-subexpressions: equal operators on equal inputs are one.
//
//   x ─► exp ─► a               x ─► exp ─┬─► a
//   x ─► exp ─► b       ⇒                 └─► b
//
// Equal: the same operator, attributes and inputs. Random operators differ even
// then. Small constants are equal when their bytes are.
#include <cstring>
#include <map>
#include <tuple>

#include "passes/node_values.h"
#include "passes/passes.h"

namespace mxc {
namespace {

// Comparing weights byte by byte costs more than it can save; the artifact
// stores equal ones once anyway.
constexpr int64_t kSmallConstantBytes = 4096;

using Key = std::tuple<std::string, std::vector<AttrText>,
                       std::vector<std::pair<int, int>>>;

Key ConstantKey(const Node& node) {
  const Tensor& tensor = node.constant;
  std::string text = ToString(tensor.type());
  if (tensor.size_bytes() <= kSmallConstantBytes) {
    text.append(reinterpret_cast<const char*>(tensor.bytes()),
                static_cast<size_t>(tensor.size_bytes()));
  } else {
    text += fmt::format(" at {}", tensor.identity());
  }
  return {"constant " + text, {}, {}};
}

Key OperatorKey(const Node& node) {
  std::vector<std::pair<int, int>> inputs;
  for (const Value& input : node.inputs) {
    inputs.emplace_back(input.node->id(), input.index);
  }
  return {node.op->name, node.op->print(node.attrs.get()), std::move(inputs)};
}

bool Mergeable(const Graph& graph, const Node& node) {
  if (node.kind == Node::Kind::kConstant) return !node.constant.empty();
  return node.kind == Node::Kind::kOperator && !IsRandom(graph, node) &&
         !node.op->any_attributes;
}

}  // namespace

Result<bool> MergeCommonSubexpressions(Graph& graph, PassContext&) {
  std::map<Key, Node*> first;
  Replacements replaced;
  for (Node* node : graph.TopologicalOrder()) {
    replaced.ApplyTo(*node);
    if (!Mergeable(graph, *node)) continue;
    Key key = node->kind == Node::Kind::kConstant ? ConstantKey(*node)
                                                  : OperatorKey(*node);
    const auto [entry, added] = first.try_emplace(std::move(key), node);
    if (added) continue;
    if (entry->second->part != node->part) entry->second->part = -1;  // of all
    entry->second->backward &= node->backward;
    for (size_t i = 0; i < node->types.size(); ++i) {
      const int output = static_cast<int>(i);
      replaced.Add(node->out(output), entry->second->out(output));
    }
  }
  if (replaced.empty()) return false;
  graph.ReplaceUses(replaced);
  graph.RemoveDeadNodes();
  return true;
}

}  // namespace mxc
