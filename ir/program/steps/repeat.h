// SPDX-License-Identifier: Apache-2.0
// The step kind Repeat: a program runs once for each iteration of a loop.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/program/step_values.h"

namespace mxc {

// A program that runs turn after turn (a scan): a turn reads and writes one
// slice of some operands, all of the others, and what the turn before it left.
//
// Buffer i of the body is what a turn sees of the step's operand i (inputs,
// then outputs), of kind kInput or kOutput: of a sliced operand [turns, dims…],
// row-major, slice t as [dims…]; of another one all of it, in its layout. An
// output that is not sliced is what the last turn writes. The body's other
// buffers are internal. They lie, as the body is planned, in the step's last
// output, u8[workspace_bytes()], which is no buffer of the body.
//
// It ends early where a condition says so or a count leaves slices out; slices
// without a turn keep what their bytes were.
//
// What is carried lies in one place. Where the output is not sliced, a turn
// writes it over what it has read: it is the next value of a state of the body
// (kState, kNextState). A sliced one has one slice more, [turns + 1, dims…]:
// the first is the input's value, each of the others what a turn leaves.
struct Repeat {
  // From the second turn on, input `input` of the body is what `output` was
  // after the turn before. Both are operand numbers, each of one carry; `input`
  // is not sliced. Once memory is planned, the step's input lies in its output
  // (CarryBegin).
  struct Carry {
    int input = 0, output = 0;
    friend bool operator==(const Carry&, const Carry&) = default;
  };

  int64_t turns = 1;
  bool reversed = false;     // turn t is that of slice turns − 1 − t
  std::vector<bool> sliced;  // by operand
  std::vector<Carry> carries;
  // The output of a carry, of one element, not sliced: a turn takes place while
  // it is not 0. -1: there is no condition.
  int condition = -1;
  // An input of one i32 or i64, not sliced: slices from this number on have no
  // turn. -1: all have one.
  int count = -1;
  std::shared_ptr<const Program> body;

  bool may_end_early() const { return condition >= 0 || count >= 0; }
  // Of the body's arena, once it is planned.
  int64_t workspace_bytes() const;
  // The carry of an input or an output of the body; null if there is none.
  const Carry* CarryOf(int operand) const;
  // What a turn sees as buffer `part` of the body: of turn t the bytes of
  // operand OperandOf(part) from `begin` + t · `advance` on. `advance` is 0
  // where it is all of an operand.
  struct Slices {
    int64_t begin = 0, advance = 0;
  };
  Slices SlicesOf(int part) const;
  // The operand itself; of the input of a carry that is stacked, the stack.
  int OperandOf(int part) const;
  // Where in the operand of a carry's output the step's input lies.
  int64_t CarryBegin(const Carry& carry) const;

  static constexpr Work kWork = Work::kSteps;
  static constexpr Layouts kLayouts = Layouts::kFixed;
  static constexpr int kWorkspaces = 1;
  std::string Print() const;
  std::optional<std::string> Verify(const Program& program,
                                    const Step& step) const;
  void Interpret(StepValues& values) const;
  std::string Key(const Program& program, const Step& step,
                  const ExprText& text) const;
  double Flops(const Program& program, const Step& step) const;
  bool IsPure() const;
  bool MayFail() const;
  void VisitPrograms(
      const std::function<void(std::shared_ptr<const Program>&)>& f) {
    f(body);
  }
};

}  // namespace mxc
