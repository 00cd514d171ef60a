// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/unary.h"

namespace mxc {

MXC_OP(Rcbrt) {
  return UnaryOperator(
             "rcbrt", "1 / the cube root",
             [](Expr x) { return Lit(1, x) / Unary(UnaryOp::kCbrt, x); })
      .SlopeOfOutput([](const NoAttrs&, Expr y) {
        const Expr square = y * y;
        return Lit(-1.0 / 3, y) * square * square;
      });
}

}  // namespace mxc
