// SPDX-License-Identifier: Apache-2.0
// _npi_normal: mean loc, deviation scale.
#include "ir/ops/numpy/np_random.h"

namespace mxc {
namespace {

constexpr NpDistribution kNpiNormal = {
    .names = {"loc", "scale"}, .typed = true, .draw = DrawNormal};

}  // namespace

MXC_OP(NpiNormal) {
  return NpRandomOperator<kNpiNormal>(
      "_npi_normal", "numbers drawn from a normal distribution");
}

}  // namespace mxc
