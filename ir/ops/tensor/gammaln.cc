// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/unary.h"

namespace mxc {

MXC_OP(Gammaln) {
  return UnaryOperator(
             "gammaln",
             "the logarithm of the absolute value of the gamma function",
             [](Expr x) { return Unary(UnaryOp::kLogGamma, x); })
      .Alias({"_npx_gammaln"});
}

}  // namespace mxc
