// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/np_arithmetic.h"
#include "ir/ops/numpy/np_truth.h"

namespace mxc {

MXC_OP(NpiIsposinf) {
  return NpTest("_npi_isposinf", "whether x is +∞",
                [](Expr x) { return np::IsInfinite(x, true, false); });
}

}  // namespace mxc
