// SPDX-License-Identifier: Apache-2.0
// The regression heads: a link function of data, and a gradient that comes
// from label alone, whatever arrives from above.
//   data    f[N, d1 …]
//   label   f[N, d1 …], or as many elements over the same N; f[N] by default
//           where data is f[N, 1]; not read by the forward pass
//   output  f[N, d1 …]
// The gradient of data is slope(output, label) · grad_scale / ∏ d; label has
// none. The loss is the mean of the elements'.
// C1  label has N rows and data's number of elements
// Source: MXNet 1.9.1 operator/regression_output.cc.
#pragma once

#include <string>

#include "ir/ops/op.h"

namespace mxc {

struct RegressionOutputAttrs {
  double grad_scale = 1;

  void Describe(Fields& f) {
    f("grad_scale", grad_scale).Doc("factor of the gradient");
  }
};
MXC_ATTRS(LinearRegressionOutput, RegressionOutputAttrs);
MXC_ATTRS(LogisticRegressionOutput, RegressionOutputAttrs);
MXC_ATTRS(MAERegressionOutput, RegressionOutputAttrs);

struct Regression {
  Expr (*link)(Expr data);
  // Of each element.
  Value (*slope)(GraphBuilder& b, Value output, Value label);
  Value (*loss)(GraphBuilder& b, Value output, Value label);
};

Operator RegressionOutput(std::string name, std::string doc,
                          Regression regression);

// output − label
Value ErrorOf(GraphBuilder& b, Value output, Value label);

}  // namespace mxc
