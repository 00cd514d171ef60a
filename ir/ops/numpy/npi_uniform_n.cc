// SPDX-License-Identifier: Apache-2.0
// _npi_uniform_n: low ≤ x < high.
#include "ir/ops/numpy/np_random.h"

namespace mxc {
namespace {

constexpr NpDistribution kNpiUniformN = {.names = {"low", "high"},
                                         .typed = true,
                                         .batch = true,
                                         .draw = DrawUniform};

}  // namespace

MXC_OP(NpiUniformN) {
  return NpRandomOperator<kNpiUniformN>("_npi_uniform_n",
                                        "numbers drawn evenly from a range");
}

}  // namespace mxc
