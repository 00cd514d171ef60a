// SPDX-License-Identifier: Apache-2.0
// _npi_normal_n: mean loc, deviation scale.
#include "ir/ops/numpy/np_random.h"

namespace mxc {
namespace {

constexpr NpDistribution kNpiNormalN = {
    .names = {"loc", "scale"},
    .typed = true,
    .batch = true,
    .draw = [](GraphBuilder& b, const Shape& shape,
               const std::vector<Value>& parameters) {
      return b.Add(b.Mul(b.Normal(shape), parameters[1]), parameters[0]);
    }};

}  // namespace

MXC_OP(NpiNormalN) {
  return NpRandomOperator<kNpiNormalN>(
      "_npi_normal_n", "numbers drawn from a normal distribution");
}

}  // namespace mxc
