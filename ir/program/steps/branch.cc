// SPDX-License-Identifier: Apache-2.0
#include "ir/program/steps/branch.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "ir/program/inner_program.h"
#include "ir/program/interpreter.h"
#include "ir/program/memory.h"
#include "ir/program/program.h"
#include "ir/program/program_text.h"
#include "ir/program/verify.h"

namespace mxc {
namespace {

// What is wrong with a side of a step of `program`.
std::optional<std::string> VerifySide(const Program& side,
                                      const Program& program,
                                      const Step& step) {
  const std::vector<int> operands = step.operands();
  const size_t windows = operands.size() - 1;
  if (side.buffers.size() < windows) return "no buffer for each operand";
  for (size_t i = 0; i < windows; ++i) {
    const Buffer& inside = side.buffers[i];
    const Buffer& operand = program.buffers[operands[i]];
    const BufferKind kind =
        i < step.inputs.size() ? BufferKind::kInput : BufferKind::kOutput;
    if (inside.kind != kind || inside.type != operand.type ||
        inside.layout != operand.layout) {
      return fmt::format("operand {}: a buffer of another kind, type or layout",
                         i);
    }
  }
  return VerifyInner(side, windows);
}

}  // namespace

int64_t Branch::workspace_bytes() const {
  return std::max({AlignedBytes(then->arena_bytes()),
                   AlignedBytes(otherwise->arena_bytes()), kArenaAlignment});
}

std::string Branch::Print() const {
  std::string first = PrintInner(*then);
  first.pop_back();  // the line goes on
  return "    branch" + first + " else" + PrintInner(*otherwise);
}

StepBody ReadBranch(ProgramReader& reader) {
  Lexer& lex = reader.lex();
  lex.Expect("branch");
  Branch branch;
  branch.then = reader.Inner();
  lex.Expect("else");
  branch.otherwise = reader.Inner();
  return branch;
}

std::optional<std::string> Branch::Verify(const Program& program,
                                          const Step& step) const {
  if (then == nullptr || otherwise == nullptr || step.inputs.empty()) {
    return "a branch without sides or a condition";
  }
  if (program.buffers[step.inputs[0]].type.shape.elements() != 1) {
    return "a condition of more than one element";
  }
  const Buffer& workspace = program.buffers[step.outputs.back()];
  const bool planned =
      then->planned() && otherwise->planned() && program.planned();
  if (workspace.type.dtype != DType::kU8 ||
      (planned && workspace.bytes() < workspace_bytes())) {
    return "a branch without room for its sides";
  }
  if (auto error = VerifySide(*then, program, step)) return "then: " + *error;
  if (auto error = VerifySide(*otherwise, program, step)) {
    return "else: " + *error;
  }
  return std::nullopt;
}

void Branch::Interpret(StepValues& values) const {
  const Program& side = values.inputs[0]->front() != 0 ? *then : *otherwise;
  std::vector<std::vector<Element>> own(side.buffers.size());
  std::vector<const std::vector<Element>*> at;
  for (size_t i = 0; i < own.size(); ++i) {
    const Tensor& constant = side.buffers[i].constant;
    if (!constant.empty()) own[i] = ToElements(constant);
    at.push_back(i < values.inputs.size() ? values.inputs[i] : &own[i]);
  }
  for (const Step& step : side.steps) {
    InterpretStep(side, step, at, values.arithmetic, own);
  }
  for (size_t i = 0; i + kWorkspaces < values.outputs.size(); ++i) {
    values.outputs[i] = std::move(own[values.inputs.size() + i]);
  }
}

std::string Branch::Key(const Program&, const Step& step,
                        const ExprText& text) const {
  const size_t windows = step.inputs.size() + step.outputs.size() - kWorkspaces;
  return "|branch" + InnerKey(*then, windows, text) + "|else" +
         InnerKey(*otherwise, windows, text);
}

double Branch::Flops(const Program&, const Step&) const {
  return std::max(InnerFlops(*then), InnerFlops(*otherwise));
}

bool Branch::IsPure() const {
  return mxc::IsPure(*then) && mxc::IsPure(*otherwise);
}

bool Branch::MayFail() const {
  return mxc::MayFail(*then) || mxc::MayFail(*otherwise);
}

}  // namespace mxc
