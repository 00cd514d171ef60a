// SPDX-License-Identifier: Apache-2.0
// An entry for sequences of any length up to one, at the length that its inputs say,
// for a comparison with the network made for that length.
#pragma once

#include <cstdint>
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

  int64_t length() const { return length_; }
  // The request of the network for this length, and its inputs.
  CompileRequest Request(CompileRequest open) const;
  Inputs CutInputs() const;
  // What counts of the program's outputs.
  std::vector<Tensor> CutOutputs(const std::vector<Tensor>& outputs) const;

 private:
  CutLength(const Program& program, const Inputs& inputs, int64_t length)
      : program_(program), inputs_(inputs), length_(length) {}
  Tensor Cut(const Tensor& whole, const TensorUse& use) const;

  const Program& program_;
  const Inputs& inputs_;
  const int64_t length_;
};

}  // namespace mxc
