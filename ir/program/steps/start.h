// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "ir/program/step.h"

namespace mxc {

// A step of another kind that runs beside those that follow, until the Wait for
// it. The step has the operands of that kind. Until the wait nobody writes what
// it reads, and nobody else uses what it writes (Verify of programs).
struct Start {
  StepBody body;  // of a kind that may run beside others

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
