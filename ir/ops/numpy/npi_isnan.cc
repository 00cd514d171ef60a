// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/np_arithmetic.h"
#include "ir/ops/numpy/np_truth.h"

namespace mxc {

MXC_OP(NpiIsnan) {
  return NpTest("_npi_isnan", "whether x is NaN",
                [](Expr x) { return np::IsNan(x); });
}

}  // namespace mxc
