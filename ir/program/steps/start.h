// SPDX-License-Identifier: Apache-2.0
// The step kind Start: a step begins and runs concurrently with those behind
// it.
#pragma once

#include <optional>
#include <string>

#include "ir/program/step.h"

namespace mxc {

// A step of another kind that runs beside those that follow, until the Wait for
// it. The step has the operands of that kind. Until the wait nobody writes what
// it reads, and nobody else uses what it writes (Verify of programs).
//
// A kind may run so if it says `kBeside = true`. It says nothing else for it:
//   - schedule-steps puts such a step early and its readers late, and
//     overlap-steps makes it a Start and a Wait, however many operands it has.
//   - If it is not pure (a collective, a push), it starts in one order with
//     others that are not; steps that are pure may pass it. Between its start
//     and its wait stands none that is neither pure nor may run so.
//   - Like every step it has an output. Nobody reads that of a push: the wait
//     stands at the end. A pull may read it, to follow the push.
struct Start {
  StepBody body;  // of a kind that may run beside others

  static constexpr Work kWork = Work::kSteps;
  static constexpr Layouts kLayouts = Layouts::kFixed;
  static constexpr Places kPlaces = Places::kAny;
  std::string Print() const;
  std::optional<std::string> Verify(const Program& program,
                                    const Step& step) const;
  void Interpret(StepValues& values) const;
  std::string Key(const Program& program, const Step& step,
                  const ExprText& text) const;
  double Flops(const Program& program, const Step& step) const;
};

}  // namespace mxc
