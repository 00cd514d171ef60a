// SPDX-License-Identifier: Apache-2.0
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
struct Repeat {
  // From the second turn on, input `input` of the body is what `output` was
  // after the turn before. Both are operand numbers; `input` is not sliced.
  struct Carry {
    int input = 0, output = 0;
    friend bool operator==(const Carry&, const Carry&) = default;
  };

  int64_t turns = 1;
  bool reversed = false;     // turn t is that of slice turns − 1 − t
  std::vector<bool> sliced;  // by operand
  std::vector<Carry> carries;
  std::shared_ptr<const Program> body;

  // Of the body's arena, once it is planned, and of a second place for each
  // carried output that is not sliced: turns write these in turns.
  int64_t workspace_bytes() const;
  // Where that second place begins in the workspace.
  int64_t SecondPlace(int output) const;
  // The carry of an input or an output of the body; null if there is none.
  const Carry* CarryOf(int operand) const;

  static constexpr bool kPure = true;
  static constexpr Layouts kLayouts = Layouts::kFixed;
  static constexpr int kWorkspaces = 1;
  std::string Print() const;
  std::optional<std::string> Verify(const Program& program,
                                    const Step& step) const;
  void Interpret(StepValues& values) const;
  std::string Key(const Program& program, const Step& step,
                  const ExprText& text) const;
  double Flops(const Program& program, const Step& step) const;
  void VisitPrograms(
      const std::function<void(std::shared_ptr<const Program>&)>& f) {
    f(body);
  }
};

}  // namespace mxc
