// SPDX-License-Identifier: Apache-2.0
#include "passes/lower_branch.h"

#include <memory>
#include <utility>

#include "ir/graph/branch_form.h"
#include "ir/program/add_buffer.h"
#include "ir/program/steps/branch.h"
#include "passes/lower_inner.h"

namespace mxc {

Status LowerBranch(const Node& node, const std::vector<bool>& read,
                   PassContext& context, Program& program, Step& step) {
  InnerOperands operands;
  std::vector<int> inputs, outputs;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const bool constant = node.inputs[i].node->kind == Node::Kind::kConstant;
    if (i > 0 && constant) continue;
    operands.inputs.push_back(static_cast<int>(i));
    inputs.push_back(step.inputs[i]);
  }
  for (size_t i = 0; i < node.types.size(); ++i) {
    if (!read[i]) continue;
    operands.outputs.push_back(static_cast<int>(i));
    outputs.push_back(step.outputs[i]);
  }
  const BranchForm form = node.op->branch(node.attrs.get());
  MXC_ASSIGN(Program then, LowerInner(node, form.then, operands, context));
  MXC_ASSIGN(Program otherwise,
             LowerInner(node, form.otherwise, operands, context));
  outputs.push_back(
      AddBuffer(program, step.name + "/workspace", {DType::kU8, Shape{1}}));
  step.inputs = std::move(inputs);
  step.outputs = std::move(outputs);
  step.body = Branch{std::make_shared<const Program>(std::move(then)),
                     std::make_shared<const Program>(std::move(otherwise))};
  return Done{};
}

}  // namespace mxc
