// SPDX-License-Identifier: Apache-2.0
// _npi_powerd: P(x) = x^a, of all below x, for 0 ≤ x ≤ 1.
#include "ir/ops/numpy/np_random.h"

namespace mxc {
namespace {

constexpr NpDistribution kNpiPowerd = {
    .names = {"a"},
    .draw = [](GraphBuilder& b, const Shape& shape,
               const std::vector<Value>& parameters) {
      const Value drawn = b.Log(InsideUnit(b, shape));
      return b.Exp(b.Div(drawn, parameters[0]));
    }};

}  // namespace

MXC_OP(NpiPowerd) {
  return NpRandomOperator<kNpiPowerd>(
      "_npi_powerd", "numbers drawn from a power distribution");
}

}  // namespace mxc
