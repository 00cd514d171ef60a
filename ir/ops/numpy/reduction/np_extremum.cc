// SPDX-License-Identifier: Apache-2.0
// numpy.argmax and numpy.argmin.
#include "ir/ops/tensor/reduction/extremum.h"

namespace mxc {

MXC_OP(NpiArgmax) {
  return ExtremumOperator("_npi_argmax",
                          "the position of the first greatest element, an i64",
                          ReduceOp::kMax, NpExtremumTypes);
}

MXC_OP(NpiArgmin) {
  return ExtremumOperator("_npi_argmin",
                          "the position of the first least element, an i64",
                          ReduceOp::kMin, NpExtremumTypes);
}

}  // namespace mxc
