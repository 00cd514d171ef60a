// SPDX-License-Identifier: Apache-2.0
// The error function, the gamma function and their kin: a row for each.
#include "ir/ops/tensor/elementwise/unary.h"

namespace mxc {

MXC_OP(Erf) {
  return UnaryOperator("erf", "the error function", UnaryOp::kErf)
      .Alias({"_npx_erf"});
}

MXC_OP(Erfinv) {
  return UnaryOperator("erfinv", "the inverse of the error function",
                       UnaryOp::kErfinv)
      .Alias({"_npx_erfinv"});
}

MXC_OP(Gamma) {
  return UnaryOperator("gamma", "the gamma function", UnaryOp::kGamma)
      .Alias({"_npx_gamma"});
}

MXC_OP(Gammaln) {
  return UnaryOperator(
             "gammaln",
             "the logarithm of the absolute value of the gamma function",
             UnaryOp::kLogGamma)
      .Alias({"_npx_gammaln"});
}

}  // namespace mxc
