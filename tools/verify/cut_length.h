// SPDX-License-Identifier: Apache-2.0
// An entry for sequences of any lengths up to bounds, at the lengths that its inputs
// say, for a comparison with the network made for those.
#pragma once

#include <optional>
#include <vector>

#include "ir/program/program.h"
#include "tools/driver/request.h"
#include "tools/verify/verify_steps.h"

namespace mxc {

class CutLength {
 public:
  // Nothing where the program has no open axes. `inputs` are the program's; they
  // and the program outlive it.
  static std::optional<CutLength> Of(const Program& program,
                                     const Inputs& inputs);

  const Lengths& lengths() const { return lengths_; }
  // The request of the network for these lengths, and its inputs.
  CompileRequest Request(CompileRequest open) const;
  Inputs CutInputs() const;
  // What counts of the program's outputs.
  std::vector<Tensor> CutOutputs(const std::vector<Tensor>& outputs) const;

 private:
  CutLength(const Program& program, const Inputs& inputs, Lengths lengths)
      : program_(program), inputs_(inputs), lengths_(std::move(lengths)) {}
  Tensor Cut(const Tensor& whole, const TensorUse& use) const;

  const Program& program_;
  const Inputs& inputs_;
  const Lengths lengths_;
};

}  // namespace mxc
