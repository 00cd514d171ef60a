// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/np_arithmetic.h"
#include "ir/ops/numpy/np_truth.h"

namespace mxc {

MXC_OP(NpiIsinf) {
  return NpTest("_npi_isinf", "whether x is infinite",
                [](Expr x) { return np::IsInfinite(x, true, true); });
}

}  // namespace mxc
