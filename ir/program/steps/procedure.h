// SPDX-License-Identifier: Apache-2.0
// The step kind Procedure: loops, branches and stores, each loop with a bound
// that is known at compile time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/program/expr.h"
#include "ir/program/step_values.h"

namespace mxc {

// One statement of a Procedure.
struct Statement {
  enum class Kind : uint8_t { kStore, kFor, kIf, kBreak };
  Kind kind = Kind::kBreak;
  // kStore: the element that is written, a Load; and what it becomes.
  // kIf: `value` is the condition.
  Expr target, value;
  // kFor: the body runs for begin ≤ i < end, but for at most the first `most`
  // of them. The bounds, i64, are evaluated once. The variable of a loop in d
  // other ones is number d + 1.
  Expr begin, end;
  int64_t most = 0;
  std::vector<Statement> body, otherwise;  // of kFor; both sides of kIf
  static constexpr int64_t kMostRounds = int64_t{1} << 47;
  // kBreak leaves the innermost loop.
};

// What no tensor expression says: statements that run one after the other.
//
//   procedure 3 {
//     local i64[]
//     set %2[] = 0
//     for i1 in 0 .. 100 {
//       if %0[i0, i1] < 0.0 {
//         break
//       }
//       set %2[] = %2[] + 1
//     }
//     set %1[i0] = %2[]
//   }
//
// It is a grid of tasks, which run in any order or at once: i0 is the task's
// number. Loads name the step's inputs, then its outputs, then the locals,
// which are scalars (of rank 0) and arrays of one task. Inputs are read only;
// an element of an output belongs to the one task that writes it, and that
// task alone may read it. What is read was written before. An index is in
// bounds wherever it is evaluated: `&&` and `||` evaluate both of their
// operands, `if` and `select` only what is chosen.
struct Procedure {
  int64_t tasks = 1;
  std::vector<TensorType> locals;
  std::vector<Statement> body;

  static constexpr bool kPure = true;
  std::string Print() const;
  std::optional<std::string> Verify(const Program& program,
                                    const Step& step) const;
  void Interpret(StepValues& values) const;
  std::string Key(const Program& program, const Step& step,
                  const ExprText& text) const;
  double Flops(const Program& program, const Step& step) const;

  // How many statements a task runs at most.
  double MostStatements() const;
  // Where each local array begins in a task's scratch, in bytes; then how many
  // bytes they take. Scalars take none.
  std::vector<int64_t> ScratchOffsets() const;
};

}  // namespace mxc
