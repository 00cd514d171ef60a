// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "ir/program/program.h"
#include "ir/program/steps/repeat.h"
#include "ir/program/verify.h"

namespace mxc {
namespace {

bool HasOperands(const Repeat& repeat, const Repeat::Carry& carry,
                 size_t inputs) {
  return carry.input >= 0 && carry.input < static_cast<int>(inputs) &&
         carry.output >= static_cast<int>(inputs) &&
         carry.output < static_cast<int>(repeat.sliced.size());
}

// What is carried and not sliced is a state of the body.
BufferKind KindOf(const Repeat& repeat, int operand, bool written) {
  const Repeat::Carry* carry = repeat.CarryOf(operand);
  const bool state = carry != nullptr && !repeat.sliced[carry->output];
  if (written) return state ? BufferKind::kNextState : BufferKind::kOutput;
  return state ? BufferKind::kState : BufferKind::kInput;
}

// What is wrong with what the body sees of an operand.
std::optional<std::string> VerifyPart(const Repeat& repeat, int i,
                                      const Buffer& operand, bool written) {
  const Buffer& part = repeat.body->buffers[i];
  if (part.kind != KindOf(repeat, i, written) ||
      part.type.dtype != operand.type.dtype) {
    return "a buffer of another kind or type";
  }
  if (!repeat.sliced[i]) {
    const bool same =
        part.type == operand.type && part.layout == operand.layout;
    if (!same) return "a buffer of another shape or layout";
    return std::nullopt;
  }
  Extents dims = part.type.shape.dims();
  const bool stack = written && repeat.CarryOf(i) != nullptr;
  dims.insert(dims.begin(), repeat.turns + (stack ? 1 : 0));
  if (Shape(dims) != operand.type.shape) return "a slice of another shape";
  if (!part.layout.row_major() || !operand.layout.row_major()) {
    return "a slice that is not row-major";
  }
  return std::nullopt;
}

std::optional<std::string> VerifyCarry(const Repeat& repeat,
                                       const Repeat::Carry& carry,
                                       const Program& program,
                                       const Step& step) {
  const Buffer& in = repeat.body->buffers[carry.input];
  const Buffer& out = repeat.body->buffers[carry.output];
  const bool sliced = repeat.sliced[carry.output];
  if (repeat.sliced[carry.input] || in.type != out.type ||
      in.layout != out.layout || repeat.CarryOf(carry.input) != &carry ||
      repeat.CarryOf(carry.output) != &carry ||
      (!sliced && out.state != carry.input)) {
    return "a carry between buffers that differ";
  }
  if (!program.planned()) return std::nullopt;
  const int from = step.inputs[carry.input];
  const int to = step.operands()[carry.output];
  if (program.Root(from) != program.Root(to) ||
      program.BytesIntoRoot(from) !=
          program.BytesIntoRoot(to) + repeat.CarryBegin(carry)) {
    return "a carry whose input does not lie in its output";
  }
  return std::nullopt;
}

bool IsElement(const Repeat& repeat, int operand) {
  return !repeat.sliced[operand] &&
         repeat.body->buffers[operand].type.shape.elements() == 1;
}

// Which turns take place. What an early end would leave undefined is refused.
std::optional<std::string> VerifyTurns(const Repeat& repeat, int inputs) {
  const int operands = static_cast<int>(repeat.sliced.size());
  if (repeat.condition >= 0) {
    const Repeat::Carry* carry = repeat.CarryOf(repeat.condition);
    if (carry == nullptr || carry->output != repeat.condition ||
        !IsElement(repeat, repeat.condition)) {
      return "a condition that is no element which turns hand on";
    }
  }
  if (repeat.count >= 0) {
    if (repeat.count >= inputs || repeat.CarryOf(repeat.count) != nullptr ||
        !IsElement(repeat, repeat.count)) {
      return "a count that is no element of an input";
    }
    const DType dtype = repeat.body->buffers[repeat.count].type.dtype;
    if (dtype != DType::kI32 && dtype != DType::kI64) {
      return "a count that is no i32 or i64";
    }
  }
  for (int i = inputs; i < operands && repeat.may_end_early(); ++i) {
    const bool carried = repeat.CarryOf(i) != nullptr;
    if (!repeat.sliced[i] && !carried)
      return "an output of a turn that may not be";
    if (repeat.sliced[i] && carried && repeat.reversed && repeat.count >= 0) {
      return "a stack whose first slice may have no turn";
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> Repeat::Verify(const Program& program,
                                          const Step& step) const {
  const std::vector<int> operands = step.operands();
  if (body == nullptr || turns < 1 || sliced.size() + 1 != operands.size() ||
      body->buffers.size() < sliced.size()) {
    return "a repeat without a buffer for each operand";
  }
  const Buffer& workspace = program.buffers[operands.back()];
  const bool planned = body->planned() && program.planned();
  if (workspace.type.dtype != DType::kU8 ||
      (planned && workspace.bytes() < workspace_bytes())) {
    return "a repeat without room for its body";
  }
  for (const Carry& carry : carries) {
    if (!HasOperands(*this, carry, step.inputs.size())) {
      return "a carry of what is no input or no output";
    }
  }
  if (condition >= static_cast<int>(sliced.size())) {
    return "a condition that is no output";
  }
  if (auto error = VerifyTurns(*this, static_cast<int>(step.inputs.size()))) {
    return error;
  }
  for (size_t i = 0; i < sliced.size(); ++i) {
    const bool written = i >= step.inputs.size();
    if (auto error = VerifyPart(*this, static_cast<int>(i),
                                program.buffers[operands[i]], written)) {
      return fmt::format("operand {}: {}", i, *error);
    }
  }
  for (const Carry& carry : carries) {
    if (auto error = VerifyCarry(*this, carry, program, step)) return error;
  }
  if (auto error = VerifyInner(*body, sliced.size())) {
    return fmt::format("body: {}", *error);
  }
  return std::nullopt;
}

}  // namespace mxc
