// SPDX-License-Identifier: Apache-2.0
// _npi_normal_n: mean loc, deviation scale.
#include "ir/ops/numpy/np_random.h"

namespace mxc {
namespace {

constexpr NpDistribution kNpiNormalN = {.names = {"loc", "scale"},
                                        .typed = true,
                                        .batch = true,
                                        .draw = DrawNormal};

}  // namespace

MXC_OP(NpiNormalN) {
  return NpRandomOperator<kNpiNormalN>(
      "_npi_normal_n", "numbers drawn from a normal distribution");
}

}  // namespace mxc
