// SPDX-License-Identifier: Apache-2.0
// MAERegressionOutput: the identity, with the gradient of the absolute error,
// which is −1 where there is none (MXNet's minus_sign).
#include "ir/ops/nn/regression_output.h"

namespace mxc {
namespace {

Value SignOfError(GraphBuilder& b, Value output, Value label) {
  return b.Sub(b.Mul(b.Greater(output, label), 2), 1);
}

Value AbsoluteError(GraphBuilder& b, Value output, Value label) {
  return b.Abs(ErrorOf(b, output, label));
}

}  // namespace

MXC_OP(MAERegressionOutput) {
  return RegressionOutput(
      "MAERegressionOutput",
      "the identity, with the gradient of the absolute error",
      {[](Expr x) { return x; }, SignOfError, AbsoluteError});
}

}  // namespace mxc
