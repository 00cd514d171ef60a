// SPDX-License-Identifier: Apache-2.0
// The part that operators share which are one step of a program in its text form, their
// attribute `program`: the inputs and outputs are those of the program.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/ops/op.h"
#include "ir/program/program.h"

namespace mxc {

struct OneStepAttrs {
  int64_t num_args = 0;
  std::string program;

  void Describe(Fields& f) {
    f("num_args", num_args).Doc("number of inputs");
    f("program", program).Required().Doc("one step, as text");
  }

  // Null if the text is no program of one step.
  const Program* parsed() const;
  const Step& step() const { return parsed()->steps[0]; }

 private:
  mutable std::shared_ptr<const Program> cache_;
};

std::vector<InputSpec> OneStepInputs(const OneStepAttrs& a);
std::vector<std::string> OneStepOutputs(const OneStepAttrs& a);
void OneStepTypes(const OneStepAttrs& a, TypeInference& t);

// Makes a node of such an operator. Expressions are handed over with Loads that
// name `operands`; those that none of them reads are left out.
class OneStepBuilder {
 public:
  explicit OneStepBuilder(std::span<const Value> operands)
      : operands_(operands) {}

  // All expressions, in order, before any of them is handed over.
  void See(const Expr& e);
  // With Loads as the step has them.
  Expr Taken(const Expr& e) const;
  std::vector<Value> Finish(GraphBuilder& builder, const Operator& op,
                            std::string name, StepBody body,
                            std::span<const TensorType> outputs,
                            std::string_view role);

 private:
  const std::span<const Value> operands_;
  std::vector<int> place_;  // by operand: input of the step, or -1
  std::vector<Value> used_;
};

}  // namespace mxc
