// SPDX-License-Identifier: Apache-2.0
// The step kind Copy: bytes move between two buffers, or between the host and a
// device.
#pragma once

#include <optional>
#include <string>

#include "ir/program/step_values.h"

namespace mxc {

// The bytes of the input become the output's, in this place or another. Both
// are of one type and layout, without gaps.
struct Copy {
  static constexpr Work kWork = Work::kTransfer;
  static constexpr bool kPure = true;
  static constexpr bool kBeside = true;
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
