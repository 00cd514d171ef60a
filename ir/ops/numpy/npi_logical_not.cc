// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/np_truth.h"

namespace mxc {

MXC_OP(NpiLogicalNot) {
  return NpTest("_npi_logical_not", "whether x is 0",
                [](Expr x) { return x == Constant(0, x->dtype); });
}

}  // namespace mxc
