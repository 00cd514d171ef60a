// SPDX-License-Identifier: Apache-2.0
#include "passes/lower_inner.h"

#include <algorithm>
#include <utility>

#include "ir/graph/inner_graph.h"
#include "passes/order_buffers.h"

namespace mxc {
namespace {

std::string InnerOutput(int output) {
  return "output" + std::to_string(output);
}

// Constants take the place of variables; each operand has a variable.
void BindInputs(const Node& node, const InnerOperands& operands, Graph& graph) {
  Replacements bound;
  for (int i = 0; i < static_cast<int>(node.inputs.size()); ++i) {
    Node* variable = graph.FindVariable(InnerVariable(i));
    const bool operand = std::ranges::count(operands.inputs, i) > 0;
    if (variable == nullptr) {
      if (!operand) continue;
      variable = graph.AddVariable(InnerVariable(i));
      variable->types = {node.inputs[i].type()};
    }
    variable->declared = operand;
    if (operand) continue;
    const Node& constant = *node.inputs[i].node;
    bound.Add(variable->out(),
              graph.AddConstant(constant.name, constant.constant)->out());
  }
  graph.ReplaceUses(bound);
  graph.RemoveDeadNodes();
}

void KeepOutputs(const InnerOperands& operands, Graph& graph) {
  std::vector<Value> outputs;
  graph.output_names.clear();
  for (const int i : operands.outputs) {
    outputs.push_back(graph.outputs[i]);
    graph.output_names.push_back(InnerOutput(i));
  }
  graph.outputs = std::move(outputs);
}

void PutOperandsFirst(const Node& node, const InnerOperands& operands,
                      Program& program) {
  std::vector<int> order;
  const auto take = [&](const std::string& name, BufferKind kind) {
    for (const int b : program.BuffersOf(kind)) {
      if (program.buffers[b].name == name) order.push_back(b);
    }
  };
  for (const int i : operands.inputs) {
    take(InnerVariable(i), BufferKind::kInput);
  }
  for (const int i : operands.outputs) {
    take(InnerOutput(i), BufferKind::kOutput);
  }
  MXC_CHECK(order.size() == operands.inputs.size() + operands.outputs.size(),
            "'{}'", node.name);
  for (int b = 0; b < static_cast<int>(program.buffers.size()); ++b) {
    if (std::ranges::count(order, b) == 0) order.push_back(b);
  }
  OrderBuffers(program, order);
}

}  // namespace

Result<Program> LowerInner(const Node& node, const std::string& text,
                           const InnerOperands& operands,
                           PassContext& context) {
  MXC_ASSIGN(Graph graph, ParseInner(node.name, text));
  KeepOutputs(operands, graph);
  BindInputs(node, operands, graph);
  MXC_ASSIGN(Program program, context.lower_inside(std::move(graph)));
  PutOperandsFirst(node, operands, program);
  return program;
}

}  // namespace mxc
