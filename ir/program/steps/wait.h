// SPDX-License-Identifier: Apache-2.0
// The step kind Wait: joins what a Start began.
#pragma once

#include <optional>
#include <string>

#include "ir/program/step_values.h"

namespace mxc {

// Waits for a Start. Its inputs are all operands of that step, so that they live
// until here; its outputs are what that wrote: each lies in the buffer that the
// start named, and readers read it under this name.
struct Wait {
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
