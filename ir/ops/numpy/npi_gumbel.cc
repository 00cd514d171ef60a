// SPDX-License-Identifier: Apache-2.0
// _npi_gumbel: P(x) = e^(-e^(-(x - loc) / scale)), of all below x.
#include "ir/ops/numpy/np_random.h"

namespace mxc {
namespace {

constexpr NpDistribution kNpiGumbel = {
    .names = {"loc", "scale"},
    .draw = [](GraphBuilder& b, const Shape& shape,
               const std::vector<Value>& parameters) {
      const Value drawn = b.Neg(b.Log(StandardExponential(b, shape)));
      return Placed(b, drawn, parameters);
    }};

}  // namespace

MXC_OP(NpiGumbel) {
  return NpRandomOperator<kNpiGumbel>(
      "_npi_gumbel", "numbers drawn from a Gumbel distribution");
}

}  // namespace mxc
