// SPDX-License-Identifier: Apache-2.0
#include "frontend/onnx/value_now.h"

#include <algorithm>
#include <vector>

#include "ir/ops/constant_value.h"

namespace mxc::onnx {

std::optional<Tensor> ValueNow(Value value, const ParameterValues& parameters,
                               double& work_left) {
  constexpr int64_t kSmall = 4096;  // elements of a parameter
  constexpr double kWork = 1e5;
  constexpr int kMostNodesBehind = 64;
  // Behind the value, each after its inputs.
  Graph graph;
  std::unordered_map<const Node*, std::vector<Value>> made;
  int left = kMostNodesBehind;
  const auto visit = [&](auto&& self, const Node* node) -> bool {
    if (made.contains(node)) return true;
    if (--left < 0) return false;
    if (node->kind == Node::Kind::kConstant) {
      made[node] = {graph.AddConstant(node->name, node->constant)->out()};
      return true;
    }
    if (const auto found = parameters.find(node); found != parameters.end()) {
      if (found->second.shape().elements() > kSmall) return false;
      made[node] = {graph.AddConstant(node->name, found->second)->out()};
      return true;
    }
    if (node->kind != Node::Kind::kOperator) return false;
    std::vector<Value> inputs;
    for (const Value& input : node->inputs) {
      if (!self(self, input.node)) return false;
      inputs.push_back(made[input.node][static_cast<size_t>(input.index)]);
    }
    Node* copy = graph.AddOperator(node->op, node->name, node->attrs, inputs);
    copy->types = node->types;
    const auto tensors = ConstantValue(*copy, std::min(kWork, work_left));
    if (!tensors) return false;
    work_left -= WorkOf(*copy);
    for (const Tensor& tensor : *tensors) {
      made[node].push_back(graph.AddConstant(node->name, tensor)->out());
    }
    return true;
  };
  if (!visit(visit, value.node)) return std::nullopt;
  return made[value.node][static_cast<size_t>(value.index)].node->constant;
}

}  // namespace mxc::onnx
