// SPDX-License-Identifier: Apache-2.0
// The step kind Amend: an output of which few elements change.
#pragma once

#include <optional>
#include <string>

#include "ir/program/steps/procedure.h"

namespace mxc {

// A procedure that writes some elements of its output, which begins as the last
// input, of the same type; the procedure does not read that input. Where both
// lie in one place, as the next value of a state and the state do, nothing but
// what it writes is touched.
struct Amend {
  Procedure procedure;

  static constexpr bool kPure = true;
  std::string Print() const;
  std::optional<std::string> Verify(const Program& program,
                                    const Step& step) const;
  void Interpret(StepValues& values) const;
  std::string Key(const Program& program, const Step& step,
                  const ExprText& text) const;
  double Flops(const Program& program, const Step& step) const;
  // The last input is read at each element's own place.
  int FixedOperands(const Step& step) const;
  Procedure Lower(const Program& program, const Step& step) const;
};

}  // namespace mxc
