// SPDX-License-Identifier: Apache-2.0
// _npi_normal: mean loc, deviation scale.
#include "ir/ops/numpy/np_random.h"

namespace mxc {
namespace {

constexpr NpDistribution kNpiNormal = {
    .names = {"loc", "scale"},
    .typed = true,
    .draw = [](GraphBuilder& b, const Shape& shape,
               const std::vector<Value>& parameters) {
      return b.Add(b.Mul(b.Normal(shape), parameters[1]), parameters[0]);
    }};

}  // namespace

MXC_OP(NpiNormal) {
  return NpRandomOperator<kNpiNormal>(
      "_npi_normal", "numbers drawn from a normal distribution");
}

}  // namespace mxc
