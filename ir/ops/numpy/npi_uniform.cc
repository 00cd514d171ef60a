// SPDX-License-Identifier: Apache-2.0
// _npi_uniform: low ≤ x < high.
#include "ir/ops/numpy/np_random.h"

namespace mxc {
namespace {

constexpr NpDistribution kNpiUniform = {
    .names = {"low", "high"},
    .typed = true,
    .draw = [](GraphBuilder& b, const Shape& shape,
               const std::vector<Value>& parameters) {
      const Value width = b.Sub(parameters[1], parameters[0]);
      return b.Add(b.Mul(b.Uniform(shape), width), parameters[0]);
    }};

}  // namespace

MXC_OP(NpiUniform) {
  return NpRandomOperator<kNpiUniform>("_npi_uniform",
                                       "numbers drawn evenly from a range");
}

}  // namespace mxc
