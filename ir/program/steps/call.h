// SPDX-License-Identifier: Apache-2.0
// The step kind Call: a function outside the artifact computes the outputs.
#pragma once

#include <optional>
#include <string>

#include "ir/program/step_values.h"

namespace mxc {

// A function that the artifact imports by name and version and that the runtime
// finds when it is opened (runtime/library). Operands are dense and row-major;
// the last output is u8, the function's workspace.
struct Call {
  std::string function;  // "potrf", or a user's
  int version = 1;
  std::string attributes;  // "lower=1 …", as the function reads them

  static constexpr Work kWork = Work::kFunction;
  // What mxc.h asks of functions.
  static constexpr bool kPure = true;
  static constexpr bool kFails = true;
  static constexpr Places kPlaces = Places::kOne;
  static constexpr int kWorkspaces = 1;
  std::string Print() const;
  std::optional<std::string> Verify(const Program& program,
                                    const Step& step) const;
  void Interpret(StepValues& values) const;
  std::string Key(const Program& program, const Step& step,
                  const ExprText& text) const;
  double Flops(const Program& program, const Step& step) const;
};

}  // namespace mxc
