// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/unary.h"

namespace mxc {

MXC_OP(Gamma) {
  return UnaryOperator("gamma", "the gamma function",
                       [](Expr x) { return Unary(UnaryOp::kGamma, x); })
      .Alias({"_npx_gamma"});
}

}  // namespace mxc
