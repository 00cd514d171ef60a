// SPDX-License-Identifier: Apache-2.0
// A network's loss around a point: its value, and its derivatives along
// directions by central differences.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>

#include "ir/graph/tensor.h"
#include "ir/program/interpreter.h"
#include "ir/support/result.h"
#include "tools/verify/loss_direction.h"
#include "tools/verify/loss_programs.h"

namespace mxc {

enum class LossState { kSmooth, kCutOff, kNotFinite };

// Keeps a reference to the programs.
class LossFunction {
 public:
  explicit LossFunction(const LossPrograms& programs) : programs_(programs) {}

  // Has the loss looked at there from now on: inputs, and states that have other
  // values than their initial ones. Tells how it is there. Before all others.
  Result<LossState> MoveTo(std::map<std::string, Tensor> inputs);

  const std::map<std::string, Tensor>& inputs() const { return inputs_; }
  bool cut_off() const { return cut_off_; }

  // By one small step, so small that what double leaves of the losses is off by
  // no more than `most`, after division by it. In a large network a step passes
  // the kinks of many elements, of the fewer the smaller it is.
  Result<double> SmallStepDerivative(const Directions& along,
                                     double most) const;

  // Once two steps agree on it; nothing where none do: at a kink.
  Result<std::optional<double>> ConvergedDerivative(
      const Directions& along) const;

 private:
  double SmallStep(const Directions& along, double most) const;
  Result<double> LossAt(const Directions& along, double by) const;
  Result<double> LossAmong(std::span<const Tensor> values) const;

  const LossPrograms& programs_;
  std::map<std::string, Tensor> inputs_;
  std::optional<KeptRun> at_rest_;  // no parameter moved
  double loss_at_rest_ = 0;
  bool cut_off_ = false;
};

}  // namespace mxc
