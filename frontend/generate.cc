// SPDX-License-Identifier: Apache-2.0
#include "frontend/generate.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "frontend/variables.h"
#include "ir/ops/nn/sequence/cache.h"
#include "ir/ops/operators.h"

namespace mxc {
namespace {

constexpr int64_t kRowsAtOnce = 64;  // as many as keep products busy

// That of all operators `Id`, if there are any.
template <class Id>
std::optional<int64_t> LeastBound(const Graph& graph) {
  std::optional<int64_t> least;
  for (const Node* node : graph.TopologicalOrder()) {
    if (node->op != &OperatorOf<Id>()) continue;
    const int64_t bound = node->As<typename AttrsOf<Id>::type>().bound;
    least = std::min(least.value_or(bound), bound);
  }
  return least;
}

// An input for each text of the batch.
Result<Value> AddInput(Graph& graph, const char* name) {
  if (const Node* other = graph.FindVariable(name)) {
    return Error(other->loc,
                 "the name '{}' belongs to an input of networks that write "
                 "texts",
                 name);
  }
  Node* node = graph.AddVariable(name);
  node->op_name = "null";
  node->declared = true;
  node->types = {{DType::kI32, Shape{Shape::kUnknownDim}}};
  return node->out();
}

// 0, 1, 2 …: the batch is all texts.
Value AllStreams(Graph& graph, int64_t streams) {
  std::vector<float> numbers(static_cast<size_t>(streams));
  std::iota(numbers.begin(), numbers.end(), 0.0f);
  Node* node = graph.AddConstant(kStreamInput,
                                 Tensor::FromFloats(Shape{streams}, numbers));
  return node->out();
}

// The same node by another operator.
Value ReplacedBy(Graph& graph, const Node& node, const Operator& op,
                 AttrsPtr attrs, std::vector<Value> inputs) {
  Node* other =
      graph.AddOperator(&op, node.name, std::move(attrs), std::move(inputs));
  other->op_name = op.name;
  other->loc = node.loc;
  other->attr_locs = node.attr_locs;
  other->origins = node.origins;
  return other->out();
}

}  // namespace

std::optional<int64_t> RowsKept(const Graph& graph) {
  return LeastBound<op::CacheRows>(graph);
}

Status KeepRows(Generation& generation, Graph& graph) {
  const std::optional<int64_t> kept = LeastBound<op::Cache>(graph);
  if (!kept) {
    return Error({},
                 "--streams is for networks that keep rows of their texts, by "
                 "the operator 'cache'; this one has none");
  }
  if (generation.rows == 0) generation.rows = std::min(kRowsAtOnce, *kept);
  if (generation.rows > *kept) {
    return Error({},
                 "{} tokens at once, expected at most the {} that the "
                 "network keeps",
                 generation.rows, *kept);
  }
  MXC_ASSIGN(const Value position, AddInput(graph, kPositionInput));
  Value stream;
  if (generation.chosen) {
    MXC_ASSIGN(stream, AddInput(graph, kStreamInput));
  } else {
    stream = AllStreams(graph, generation.streams);
  }
  Replacements replaced;
  for (Node* node : graph.TopologicalOrder()) {
    replaced.ApplyTo(*node);
    if (node->op == &OperatorOf<op::Cache>()) {
      CacheRowsAttrs attrs;
      static_cast<CacheAttrs&>(attrs) = node->As<CacheAttrs>();
      attrs.streams = generation.streams;
      attrs.rows = generation.rows;
      replaced.Add(node->out(),
                   ReplacedBy(graph, *node, OperatorOf<op::CacheRows>(),
                              std::make_shared<const CacheRowsAttrs>(attrs),
                              {node->inputs[0], position, stream}));
    } else if (node->op == &OperatorOf<op::Positions>()) {
      replaced.Add(node->out(),
                   ReplacedBy(graph, *node, OperatorOf<op::PositionsFrom>(),
                              node->attrs, {node->inputs[0], position}));
    }
  }
  graph.ReplaceUses(replaced);
  return Done{};
}

void CloseLengths(int64_t entries, Graph& graph) {
  VisitOpenAxes(graph, [&](Node&, int, int64_t& extent) { extent = entries; });
}

}  // namespace mxc
