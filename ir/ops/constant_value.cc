// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/constant_value.h"

#include <algorithm>

#include "ir/program/add_buffer.h"
#include "ir/program/definition.h"
#include "ir/program/interpreter.h"
#include "ir/program/steps/map.h"

namespace mxc {
namespace {

bool AllConstant(const Node& node) {
  return std::ranges::all_of(node.inputs, [](const Value& input) {
    return input.node->kind == Node::Kind::kConstant &&
           !input.node->constant.empty();
  });
}

Tensor Viewed(const Tensor& source, const TensorType& type) {
  return Tensor(type, std::make_shared<const Tensor>(source), source.bytes());
}

std::vector<Tensor> Interpreted(const Node& node,
                                const std::vector<Tensor>& inputs) {
  Definition definition(node, /*training=*/false);
  node.op->meaning(node.attrs.get(), definition);
  Program program;
  Step step;
  step.name = node.name;
  for (const Tensor& input : inputs) {
    step.inputs.push_back(
        AddBuffer(program, "in", input.type(), BufferKind::kConstant));
  }
  for (const TensorType& type : node.types) {
    step.outputs.push_back(
        AddBuffer(program, "out", type, BufferKind::kOutput));
  }
  step.body = Map{definition.stores()};
  return InterpretStep(program, step, inputs);
}

}  // namespace

double WorkOf(const Node& node) {
  double read = 1, written = 0;
  for (const Value& input : node.inputs) {
    read += static_cast<double>(input.shape().elements());
  }
  for (const TensorType& type : node.types) {
    written += static_cast<double>(type.shape.elements());
  }
  return read * written;
}

std::optional<std::vector<Tensor>> ConstantValue(const Node& node,
                                                 double most) {
  const Operator& op = *node.op;
  const void* attrs = node.attrs.get();
  if (!AllConstant(node) || op.any_attributes || node.NextStates() > 0 ||
      (op.random && op.random(attrs, /*training=*/false))) {
    return std::nullopt;
  }
  std::vector<Tensor> inputs;
  for (const Value& input : node.inputs) {
    inputs.push_back(input.node->constant);
  }
  if (op.view && inputs.size() == 1) {
    return std::vector{Viewed(inputs[0], node.types[0])};
  }
  if (op.compute) return op.compute(attrs, inputs);
  if (!op.meaning || WorkOf(node) > most) return std::nullopt;
  return Interpreted(node, inputs);
}

}  // namespace mxc
