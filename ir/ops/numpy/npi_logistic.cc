// SPDX-License-Identifier: Apache-2.0
// _npi_logistic: P(x) = 1 / (1 + e^(-(x - loc) / scale)), of all below x.
#include "ir/ops/numpy/np_random.h"

namespace mxc {
namespace {

constexpr NpDistribution kNpiLogistic = {
    .names = {"loc", "scale"},
    .draw = [](GraphBuilder& b, const Shape& shape,
               const std::vector<Value>& parameters) {
      const Value u = InsideUnit(b, shape);
      const Value drawn = b.Sub(b.Log(u), b.Op<op::Log1p>({b.Neg(u)}));
      return Placed(b, drawn, parameters);
    }};

}  // namespace

MXC_OP(NpiLogistic) {
  return NpRandomOperator<kNpiLogistic>(
      "_npi_logistic", "numbers drawn from a logistic distribution");
}

}  // namespace mxc
