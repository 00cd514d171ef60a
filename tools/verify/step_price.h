// SPDX-License-Identifier: Apache-2.0
// What steps are off by, each alone, that keep weights in fewer bits (--weights),
// or weights and what lies between steps (--precision).
#pragma once

#include <optional>
#include <span>
#include <utility>

#include "ir/program/program.h"

namespace mxc {

class StepPrice {
 public:
  // `wide`: the same program with all digits.
  explicit StepPrice(Program wide) : wide_(std::move(wide)) {}

  // How far `result`, a step's output from these operands, is from what it would
  // be with all digits of weights and result: the largest difference, of the
  // largest value. nullopt: the step has them, or has no counterpart.
  std::optional<double> Of(const Program& program, const Step& step,
                           std::span<const Tensor> operands,
                           const Tensor& result) const;

 private:
  const Step* Counterpart(const Program& program, const Step& step) const;

  const Program wide_;
};

}  // namespace mxc
