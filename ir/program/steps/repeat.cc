// SPDX-License-Identifier: Apache-2.0
#include "ir/program/steps/repeat.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "ir/program/inner_program.h"
#include "ir/program/interpreter.h"
#include "ir/program/memory.h"
#include "ir/program/program.h"
#include "ir/program/program_text.h"
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
  if (program.arena_bytes < 0) return std::nullopt;
  const int from = step.inputs[carry.input];
  const int to = step.operands()[carry.output];
  if (program.Root(from) != program.Root(to) ||
      program.BytesIntoRoot(from) !=
          program.BytesIntoRoot(to) + repeat.CarryBegin(carry)) {
    return "a carry whose input does not lie in its output";
  }
  return std::nullopt;
}

// The arrays of the body while it is interpreted.
class Turns {
 public:
  Turns(const Repeat& repeat, StepValues& values)
      : repeat_(repeat),
        values_(values),
        inputs_(values.inputs.size()),
        own_(repeat.body->buffers.size()) {
    for (const auto& array : own_) at_.push_back(&array);
    for (size_t i = inputs_; i < own_.size(); ++i) {
      const Tensor& constant = repeat.body->buffers[i].constant;
      if (!constant.empty()) own_[i] = ToElements(constant);
    }
  }

  void Run() {
    for (int64_t t = 0; t < repeat_.turns; ++t) {
      const int64_t slice = repeat_.reversed ? repeat_.turns - 1 - t : t;
      TakeInputs(t, slice);
      for (const Step& step : repeat_.body->steps) {
        InterpretStep(*repeat_.body, step, at_, values_.all_double, own_);
      }
      GiveOutputs(t, slice);
    }
  }

 private:
  int64_t Elements(size_t operand) const {
    return repeat_.body->buffers[operand].type.shape.elements();
  }

  void TakeInputs(int64_t t, int64_t slice) {
    for (size_t i = 0; i < inputs_; ++i) {
      const auto from = values_.inputs[i]->begin();
      if (repeat_.sliced[i]) {
        const int64_t count = Elements(i);
        own_[i].assign(from + slice * count, from + (slice + 1) * count);
      } else if (t == 0) {
        own_[i] = *values_.inputs[i];
      }
    }
    if (t == 0) return;
    // At once: an output may be carried to several inputs.
    for (const Repeat::Carry& carry : repeat_.carries) {
      own_[carry.input] = own_[carry.output];
    }
  }

  void GiveOutputs(int64_t t, int64_t slice) {
    for (size_t i = inputs_; i < repeat_.sliced.size(); ++i) {
      std::vector<Element>& output = values_.outputs[i - inputs_];
      const Repeat::Carry* carry = repeat_.CarryOf(static_cast<int>(i));
      const bool stack = repeat_.sliced[i] && carry != nullptr;
      if (stack && t == 0) {
        const int64_t first = repeat_.reversed ? repeat_.turns : 0;
        Put(own_[carry->input], first, output);
      }
      const int64_t behind = stack && !repeat_.reversed ? 1 : 0;
      Put(own_[i], repeat_.sliced[i] ? slice + behind : 0, output);
    }
  }

  static void Put(const std::vector<Element>& value, int64_t slice,
                  std::vector<Element>& output) {
    const auto count = static_cast<int64_t>(value.size());
    std::ranges::copy(value, output.begin() + slice * count);
  }

  const Repeat& repeat_;
  StepValues& values_;
  const size_t inputs_;
  std::vector<std::vector<Element>> own_;  // by buffer of the body
  std::vector<const std::vector<Element>*> at_;
};

}  // namespace

const Repeat::Carry* Repeat::CarryOf(int operand) const {
  for (const Carry& carry : carries) {
    if (carry.input == operand || carry.output == operand) return &carry;
  }
  return nullptr;
}

int64_t Repeat::workspace_bytes() const {
  return AlignedBytes(std::max<int64_t>(1, body->arena_bytes));
}

int Repeat::OperandOf(int part) const {
  const Carry* carry = CarryOf(part);
  return carry != nullptr && sliced[carry->output] ? carry->output : part;
}

// Of turns + 1 slices a turn reads one and writes the next, or, reversed, the
// one before.
Repeat::Place Repeat::PlaceOf(int part) const {
  if (!sliced[OperandOf(part)]) return {};
  const int64_t bytes = body->buffers[part].bytes();
  const bool stack = CarryOf(part) != nullptr;
  const int64_t behind = stack && sliced[part] != reversed ? bytes : 0;
  if (!reversed) return {behind, bytes};
  return {(turns - 1) * bytes + behind, -bytes};
}

int64_t Repeat::CarryBegin(const Carry& carry) const {
  return PlaceOf(carry.input).begin;
}

std::string Repeat::Print() const {
  std::string out =
      fmt::format("    repeat {}{} (", turns, reversed ? " reversed" : "");
  for (size_t i = 0; i < sliced.size(); ++i) {
    out +=
        fmt::format("{}{}", i > 0 ? ", " : "", sliced[i] ? "slices" : "whole");
  }
  out += ")";
  for (const Carry& carry : carries) {
    out += fmt::format(" carry {} from {}", carry.input, carry.output);
  }
  return out + PrintInner(*body);
}

StepBody ReadRepeat(ProgramReader& reader) {
  Lexer& lex = reader.lex();
  lex.Expect("repeat");
  Repeat repeat;
  repeat.turns = lex.Integer();
  repeat.reversed = lex.Accept("reversed");
  lex.Expect("(");
  while (!lex.AtEnd() && !lex.Accept(")")) {
    if (!repeat.sliced.empty()) lex.Expect(",");
    repeat.sliced.push_back(lex.Accept("slices"));
    if (!repeat.sliced.back()) lex.Expect("whole");
  }
  while (lex.Accept("carry")) {
    Repeat::Carry& carry = repeat.carries.emplace_back();
    carry.input = static_cast<int>(lex.Integer());
    lex.Expect("from");
    carry.output = static_cast<int>(lex.Integer());
  }
  repeat.body = reader.Inner();
  return repeat;
}

std::optional<std::string> Repeat::Verify(const Program& program,
                                          const Step& step) const {
  const std::vector<int> operands = step.operands();
  if (body == nullptr || turns < 1 || sliced.size() + 1 != operands.size() ||
      body->buffers.size() < sliced.size()) {
    return "a repeat without a buffer for each operand";
  }
  const Buffer& workspace = program.buffers[operands.back()];
  const bool planned = body->arena_bytes >= 0 && program.arena_bytes >= 0;
  if (workspace.type.dtype != DType::kU8 ||
      (planned && workspace.bytes() < workspace_bytes())) {
    return "a repeat without room for its body";
  }
  for (const Carry& carry : carries) {
    if (!HasOperands(*this, carry, step.inputs.size())) {
      return "a carry of what is no input or no output";
    }
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

void Repeat::Interpret(StepValues& values) const { Turns(*this, values).Run(); }

std::string Repeat::Key(const Program&, const Step&,
                        const ExprText& text) const {
  std::string key = fmt::format("|repeat {}{}[{}]", turns, reversed ? "r" : "",
                                fmt::join(sliced, ","));
  for (const Carry& carry : carries) {
    key += fmt::format("({},{})", carry.input, carry.output);
  }
  return key + InnerKey(*body, sliced.size(), text);
}

double Repeat::Flops(const Program&, const Step&) const {
  return static_cast<double>(turns) * InnerFlops(*body);
}

}  // namespace mxc
