// SPDX-License-Identifier: Apache-2.0
// _npi_weibull: P(x) = 1 - e^(-x^a), of all below x.
#include "ir/ops/numpy/np_random.h"

namespace mxc {
namespace {

constexpr NpDistribution kNpiWeibull = {
    .names = {"a"},
    .draw = [](GraphBuilder& b, const Shape& shape,
               const std::vector<Value>& parameters) {
      const Value drawn = b.Log(StandardExponential(b, shape));
      return b.Exp(b.Div(drawn, parameters[0]));
    }};

}  // namespace

MXC_OP(NpiWeibull) {
  return NpRandomOperator<kNpiWeibull>(
      "_npi_weibull", "numbers drawn from a Weibull distribution");
}

}  // namespace mxc
