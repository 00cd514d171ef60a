// SPDX-License-Identifier: Apache-2.0
// _npi_pareto: P(x) = 1 - (1 + x)^-a, of all below x.
#include "ir/ops/numpy/np_random.h"

namespace mxc {
namespace {

constexpr NpDistribution kNpiPareto = {
    .names = {"a"},
    .draw = [](GraphBuilder& b, const Shape& shape,
               const std::vector<Value>& parameters) {
      const Value drawn = StandardExponential(b, shape);
      return b.Op<op::Expm1>({b.Div(drawn, parameters[0])});
    }};

}  // namespace

MXC_OP(NpiPareto) {
  return NpRandomOperator<kNpiPareto>(
      "_npi_pareto", "numbers drawn from a Pareto distribution (II, Lomax)");
}

}  // namespace mxc
