// SPDX-License-Identifier: Apache-2.0
// The step kind Launch: several steps become one launch of a device.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "ir/program/step_values.h"

namespace mxc {

// Steps that a device is told to run at once: side by side where none needs
// another one's results, else in their order.
//
// Buffer i of the program inside is the step's operand i (inputs, then outputs),
// of kind kInput or kOutput and in its layout; an alias of an earlier one where
// both are the same bytes. It has no other buffers. What one step writes and a
// later one reads is an output of the whole.
struct Launch {
  std::shared_ptr<const Program> inside;

  static constexpr Layouts kLayouts = Layouts::kAny;
  std::string Print() const;
  std::optional<std::string> Verify(const Program& program,
                                    const Step& step) const;
  void Interpret(StepValues& values) const;
  std::string Key(const Program& program, const Step& step,
                  const ExprText& text) const;
  double Flops(const Program& program, const Step& step) const;
  bool IsPure() const;
  bool MayFail() const;
};

}  // namespace mxc
