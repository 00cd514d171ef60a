// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/np_arithmetic.h"
#include "ir/ops/numpy/np_truth.h"

namespace mxc {

MXC_OP(NpiIsneginf) {
  return NpTest("_npi_isneginf", "whether x is −∞",
                [](Expr x) { return np::IsInfinite(x, false, true); });
}

}  // namespace mxc
