// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/np_arithmetic.h"
#include "ir/ops/numpy/np_truth.h"

namespace mxc {

MXC_OP(NpiIsfinite) {
  return NpTest("_npi_isfinite", "whether x is a finite number", [](Expr x) {
    return Unary(UnaryOp::kNot, np::IsNan(x) || np::IsInfinite(x, true, true));
  });
}

}  // namespace mxc
