// SPDX-License-Identifier: Apache-2.0
// LinearRegressionOutput: the identity, with the gradient of the squared error.
// Its loss is half of that.
#include "ir/ops/nn/regression_output.h"

namespace mxc {
namespace {

Value HalfSquaredError(GraphBuilder& b, Value output, Value label) {
  return b.Mul(b.Square(ErrorOf(b, output, label)), 0.5);
}

}  // namespace

MXC_OP(LinearRegressionOutput) {
  return RegressionOutput(
      "LinearRegressionOutput",
      "the identity, with the gradient of the squared error",
      {[](Expr x) { return x; }, ErrorOf, HalfSquaredError});
}

}  // namespace mxc
