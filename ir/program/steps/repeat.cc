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

namespace mxc {
namespace {

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
    Begin();
    const int64_t count = Count();
    for (int64_t t = 0; t < repeat_.turns; ++t) {
      const int64_t slice = repeat_.reversed ? repeat_.turns - 1 - t : t;
      if (slice >= count) continue;
      if (!GoesOn()) break;
      TakeSlices(slice);
      for (const Step& step : repeat_.body->steps) {
        InterpretStep(*repeat_.body, step, at_, values_.arithmetic, own_);
      }
      GiveOutputs(slice);
      for (const Repeat::Carry& carry : repeat_.carries) {
        own_[carry.input] = own_[carry.output];
      }
    }
  }

 private:
  int64_t Elements(size_t operand) const {
    return repeat_.body->buffers[operand].type.shape.elements();
  }

  int64_t Count() const {
    if (repeat_.count < 0) return repeat_.turns;
    return static_cast<int64_t>(own_[repeat_.count].front());
  }
  bool GoesOn() const {
    if (repeat_.condition < 0) return true;
    return own_[repeat_.CarryOf(repeat_.condition)->input].front() != 0;
  }

  void Begin() {
    for (size_t i = 0; i < inputs_; ++i) {
      if (!repeat_.sliced[i]) own_[i] = *values_.inputs[i];
    }
    for (const Repeat::Carry& carry : repeat_.carries) {
      const bool last = repeat_.sliced[carry.output] && repeat_.reversed;
      Put(own_[carry.input], last ? repeat_.turns : 0,
          values_.outputs[static_cast<size_t>(carry.output) - inputs_]);
    }
  }

  void TakeSlices(int64_t slice) {
    for (size_t i = 0; i < inputs_; ++i) {
      if (!repeat_.sliced[i]) continue;
      const auto from = values_.inputs[i]->begin() + slice * Elements(i);
      own_[i].assign(from, from + Elements(i));
    }
  }

  void GiveOutputs(int64_t slice) {
    for (size_t i = inputs_; i < repeat_.sliced.size(); ++i) {
      const bool stack =
          repeat_.sliced[i] && repeat_.CarryOf(static_cast<int>(i)) != nullptr;
      const int64_t behind = stack && !repeat_.reversed ? 1 : 0;
      Put(own_[i], repeat_.sliced[i] ? slice + behind : 0,
          values_.outputs[i - inputs_]);
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
  return AlignedBytes(std::max<int64_t>(1, body->arena_bytes()));
}

int Repeat::OperandOf(int part) const {
  const Carry* carry = CarryOf(part);
  return carry != nullptr && sliced[carry->output] ? carry->output : part;
}

// Of turns + 1 slices a turn reads one and writes the next, or, reversed, the
// one before.
Repeat::Slices Repeat::SlicesOf(int part) const {
  if (!sliced[OperandOf(part)]) return {};
  const int64_t bytes = body->buffers[part].bytes();
  const bool stack = CarryOf(part) != nullptr;
  const int64_t behind = stack && sliced[part] != reversed ? bytes : 0;
  if (!reversed) return {behind, bytes};
  return {(turns - 1) * bytes + behind, -bytes};
}

int64_t Repeat::CarryBegin(const Carry& carry) const {
  return SlicesOf(carry.input).begin;
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
  if (condition >= 0) out += fmt::format(" while {}", condition);
  if (count >= 0) out += fmt::format(" count {}", count);
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
  if (lex.Accept("while")) repeat.condition = static_cast<int>(lex.Integer());
  if (lex.Accept("count")) repeat.count = static_cast<int>(lex.Integer());
  repeat.body = reader.Inner();
  return repeat;
}

void Repeat::Interpret(StepValues& values) const { Turns(*this, values).Run(); }

std::string Repeat::Key(const Program&, const Step&,
                        const ExprText& text) const {
  std::string key = fmt::format("|repeat {}{}[{}]", turns, reversed ? "r" : "",
                                fmt::join(sliced, ","));
  for (const Carry& carry : carries) {
    key += fmt::format("({},{})", carry.input, carry.output);
  }
  key += fmt::format("while{}count{}", condition, count);
  return key + InnerKey(*body, sliced.size(), text);
}

double Repeat::Flops(const Program&, const Step&) const {
  return static_cast<double>(turns) * InnerFlops(*body);
}

bool Repeat::IsPure() const { return mxc::IsPure(*body); }

bool Repeat::MayFail() const { return mxc::MayFail(*body); }

}  // namespace mxc
