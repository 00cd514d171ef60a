// SPDX-License-Identifier: Apache-2.0
// What products with weights of fewer bits (--weights) are off by, each alone.
#pragma once

#include <optional>
#include <span>

#include "ir/program/program.h"

namespace mxc {

class WeightPrice {
 public:
  // `wide`: the same program with all digits of its weights.
  explicit WeightPrice(Program wide) : wide_(std::move(wide)) {}

  // How far `result`, a step's output from these operands, is from what it would
  // be with all digits: the largest difference, of the largest value. nullopt:
  // the step's weights have them.
  std::optional<double> Of(const Program& program, const Step& step,
                           std::span<const Tensor> operands,
                           const Tensor& result) const;

 private:
  const Program wide_;
};

}  // namespace mxc
