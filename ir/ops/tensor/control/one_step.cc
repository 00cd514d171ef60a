// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/control/one_step.h"

#include <utility>

#include "ir/program/add_buffer.h"

namespace mxc {

const Program* OneStepAttrs::parsed() const {
  if (cache_ != nullptr) return cache_.get();
  auto file = std::make_shared<SourceFile>(SourceFile{"step", program});
  Result<Program> parsed = ParseProgram(file);
  if (!parsed.ok() || Verify(*parsed) || parsed->steps.size() != 1) {
    return nullptr;
  }
  cache_ = std::make_shared<const Program>(std::move(*parsed));
  return cache_.get();
}

std::vector<InputSpec> OneStepInputs(const OneStepAttrs& a) {
  std::vector<InputSpec> inputs;
  for (int64_t i = 0; i < a.num_args; ++i) {
    inputs.push_back({"arg" + std::to_string(i)});
  }
  return inputs;
}

std::vector<std::string> OneStepOutputs(const OneStepAttrs& a) {
  std::vector<std::string> names;
  if (const Program* program = a.parsed()) {
    for (const int buffer : program->BuffersOf(BufferKind::kOutput)) {
      names.push_back(program->buffers[buffer].name);
    }
  }
  return names;
}

void OneStepTypes(const OneStepAttrs& a, TypeInference& t) {
  const Program& program = *a.parsed();
  const std::vector<int> inputs = program.BuffersOf(BufferKind::kInput);
  if (!t.Require(static_cast<int>(inputs.size()) == t.inputs(),
                 "{} inputs, expected {}", t.inputs(), inputs.size())) {
    return;
  }
  for (int i = 0; i < t.inputs(); ++i) {
    const TensorType& type = program.buffers[inputs[i]].type;
    t.SetIn(i, type.shape);
    t.SetInDType(i, type.dtype);
  }
  int output = 0;
  for (const int buffer : program.BuffersOf(BufferKind::kOutput)) {
    const TensorType& type = program.buffers[buffer].type;
    t.SetOut(output, type.shape);
    t.SetOutDType(output++, type.dtype);
  }
}

void OneStepBuilder::See(const Expr& e) {
  place_.resize(operands_.size(), -1);
  VisitLoads(e, [&](const ExprNode& load) {
    int& place = place_[static_cast<size_t>(load.index)];
    if (place >= 0) return;
    place = static_cast<int>(used_.size());
    used_.push_back(operands_[static_cast<size_t>(load.index)]);
  });
}

Expr OneStepBuilder::Taken(const Expr& e) const {
  return Rewrite(e, [&](const Expr& node) {
    if (node->kind != ExprKind::kLoad) return Expr();
    return Load(place_[static_cast<size_t>(node->index)], node->dtype,
                node->args);
  });
}

std::vector<Value> OneStepBuilder::Finish(GraphBuilder& builder,
                                          const Operator& op, std::string name,
                                          StepBody body,
                                          std::span<const TensorType> outputs,
                                          std::string_view role) {
  Program program;
  program.name = name;
  program.entry.of = name;
  Step step;
  step.name = std::move(name);
  const auto add = [&](const TensorType& type, BufferKind kind) {
    return AddBuffer(program, std::to_string(program.buffers.size()), type,
                     kind);
  };
  for (const Value& value : used_) {
    step.inputs.push_back(add(value.type(), BufferKind::kInput));
  }
  for (const TensorType& type : outputs) {
    step.outputs.push_back(add(type, BufferKind::kOutput));
  }
  step.body = std::move(body);
  program.steps.push_back(std::move(step));
  const auto broken = Verify(program);
  MXC_CHECK(!broken, "{} of '{}': {}", role, builder.origin().name, *broken);
  return builder.Ops(
      op, used_,
      {{"num_args", std::to_string(used_.size())}, {"program", Print(program)}},
      role);
}

}  // namespace mxc
