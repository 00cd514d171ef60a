// SPDX-License-Identifier: Apache-2.0
// LogisticRegressionOutput: the sigmoid, with the gradient of the cross
// entropy.
#include <cfloat>

#include "ir/ops/nn/activation.h"
#include "ir/ops/nn/regression_output.h"
#include "ir/ops/tensor/scalar.h"

namespace mxc {
namespace {

// Probabilities of 0 count as the smallest normal float.
Value LogOf(GraphBuilder& b, Value probability) {
  return b.Log(b.Op<op::MaximumScalar>({probability}, {.scalar = FLT_MIN}));
}

// −label · log(output) − (1 − label) · log(1 − output)
Value CrossEntropy(GraphBuilder& b, Value output, Value label) {
  const Value positive = b.Mul(label, LogOf(b, output));
  const Value negative = b.Mul(b.Sub(1, label), LogOf(b, b.Sub(1, output)));
  return b.Neg(b.Add(positive, negative));
}

}  // namespace

MXC_OP(LogisticRegressionOutput) {
  return RegressionOutput("LogisticRegressionOutput",
                          "the sigmoid, with the gradient of the cross entropy",
                          {Sigmoid, ErrorOf, CrossEntropy});
}

}  // namespace mxc
