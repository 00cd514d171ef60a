// SPDX-License-Identifier: Apache-2.0
// _npi_rayleigh: P(x) = 1 - e^(-½ (x / scale)²), of all below x.
#include "ir/ops/numpy/np_random.h"

namespace mxc {
namespace {

constexpr NpDistribution kNpiRayleigh = {
    .names = {"scale"},
    .standard = 1,
    .draw = [](GraphBuilder& b, const Shape& shape,
               const std::vector<Value>& parameters) {
      const Value drawn = StandardExponential(b, shape);
      return b.Mul(b.Sqrt(b.Mul(drawn, 2)), parameters[0]);
    }};

}  // namespace

MXC_OP(NpiRayleigh) {
  return NpRandomOperator<kNpiRayleigh>(
      "_npi_rayleigh", "numbers drawn from a Rayleigh distribution");
}

}  // namespace mxc
