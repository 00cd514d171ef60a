// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/unary.h"

namespace mxc {
namespace {

Expr HalvesDown(Expr x) {
  const Expr floor = Unary(UnaryOp::kFloor, x), ceil = Unary(UnaryOp::kCeil, x);
  return Select(x - floor <= ceil - x, floor, ceil);
}

}  // namespace

MXC_OP(Rint) {
  return UnaryOperator("rint", "the nearest integer, halves to the lower one",
                       HalvesDown)
      .Alias({"_npi_rint"})
      .ZeroGradient();
}

}  // namespace mxc
