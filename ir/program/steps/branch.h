// SPDX-License-Identifier: Apache-2.0
// The step kind Branch: one of two programs runs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "ir/program/step_values.h"

namespace mxc {

// One of two programs, its sides, by the first input, a condition of one
// element: if it is not 0, `then` runs, else `otherwise`. The other side does
// not run.
//
// Buffer i of either side is the step's operand i (inputs, then outputs), of
// kind kInput or kOutput and in its layout; a side writes all outputs. The
// sides' other buffers are internal. They lie, as each side is planned, in the
// step's last output, u8[workspace_bytes()], which is no buffer of a side: both
// sides use the same bytes.
struct Branch {
  std::shared_ptr<const Program> then, otherwise;

  // Of the larger arena, once both are planned.
  int64_t workspace_bytes() const;

  static constexpr Work kWork = Work::kSteps;
  static constexpr Layouts kLayouts = Layouts::kFixed;
  static constexpr int kWorkspaces = 1;
  std::string Print() const;
  std::optional<std::string> Verify(const Program& program,
                                    const Step& step) const;
  void Interpret(StepValues& values) const;
  std::string Key(const Program& program, const Step& step,
                  const ExprText& text) const;
  // Of the side that takes more.
  double Flops(const Program& program, const Step& step) const;
  bool IsPure() const;
  bool MayFail() const;
  void VisitPrograms(
      const std::function<void(std::shared_ptr<const Program>&)>& f) {
    f(then);
    f(otherwise);
  }
};

}  // namespace mxc
