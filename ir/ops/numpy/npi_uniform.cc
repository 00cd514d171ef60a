// SPDX-License-Identifier: Apache-2.0
// _npi_uniform: low ≤ x < high.
#include "ir/ops/numpy/np_random.h"

namespace mxc {
namespace {

constexpr NpDistribution kNpiUniform = {
    .names = {"low", "high"}, .typed = true, .draw = DrawUniform};

}  // namespace

MXC_OP(NpiUniform) {
  return NpRandomOperator<kNpiUniform>("_npi_uniform",
                                       "numbers drawn evenly from a range");
}

}  // namespace mxc
