// SPDX-License-Identifier: Apache-2.0
// Updates by themselves: steps of training whose gradients are inputs.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "ir/graph/graph.h"
#include "ir/program/interpreter.h"
#include "ir/target/target.h"
#include "passes/passes.h"
#include "passes/training_graph.h"

namespace mxc {

using States = std::map<std::string, Tensor>;

inline Node* AddParameter(Graph& graph, const std::string& name, Tensor value) {
  Node* node = graph.AddVariable(name);
  node->role = VariableRole::kParameter;
  node->types[0] = value.type();
  node->constant = std::move(value);
  return node;
}

inline Node* AddInput(Graph& graph, const std::string& name, TensorType type) {
  Node* node = graph.AddVariable(name);
  node->types[0] = std::move(type);
  return node;
}

// Of a graph whose updates are gradients.
inline Program PlanFed(Graph graph, const TrainingOptions& options) {
  static const Target target = *ResolveTarget("x86-64-v3");
  PassContext context;
  context.training = &options;
  auto applied = ApplyOptimizer(graph, context);
  MXC_CHECK(applied.ok(), "{}", Render(applied.errors()));
  auto program = RunPipeline(std::move(graph), {&target}, {});
  MXC_CHECK(program.ok(), "{}", Render(program.errors()));
  return std::move(*program);
}

// One step; `states` are those after it. `fed(buffer)` is an input's tensor.
template <class Fed>
void StepBy(const Program& program, const Fed& fed, States& states) {
  States inputs = states;
  for (const int b : program.BuffersOf(BufferKind::kInput)) {
    const Buffer& buffer = program.buffers[b];
    inputs[buffer.name] = fed(buffer);
  }
  States next;
  InterpreterOptions options;
  options.next_states = &next;
  const auto outputs = Interpret(program, inputs, options);
  MXC_CHECK(outputs.ok(), "{}", Render(outputs.errors()));
  for (auto& [name, value] : next) states[name] = value;
}

}  // namespace mxc
