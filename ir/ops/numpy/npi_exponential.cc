// SPDX-License-Identifier: Apache-2.0
// _npi_exponential: mean scale.
#include "ir/ops/numpy/np_random.h"

namespace mxc {
namespace {

constexpr NpDistribution kNpiExponential = {
    .names = {"scale"},
    .standard = 1,
    .draw = [](GraphBuilder& b, const Shape& shape,
               const std::vector<Value>& parameters) {
      return b.Mul(StandardExponential(b, shape), parameters[0]);
    }};

}  // namespace

MXC_OP(NpiExponential) {
  return NpRandomOperator<kNpiExponential>(
      "_npi_exponential", "numbers drawn from an exponential distribution");
}

}  // namespace mxc
