// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/nn/loss/regression_output.h"

#include <cfloat>

#include "ir/ops/nn/activation/activation.h"
#include "ir/ops/nn/loss/loss.h"
#include "ir/ops/tensor/elementwise/scalar.h"
#include "ir/ops/tensor/elementwise/unary.h"

namespace mxc {
namespace {

void RegressionOutputTypes(const RegressionOutputAttrs&, TypeInference& t) {
  if (!LikeFirstInput(t)) return;
  const Shape& data = t.In(0);
  if (!data.known() || data.rank() == 0) return;
  if (!t.In(1).known()) {
    const bool column = data.rank() == 2 && data[1] == 1;
    t.SetIn(1, column && !t.In(1).known_rank() ? Shape{data[0]} : data);
    return;
  }
  const Shape& label = t.In(1);
  t.Require(label.rank() > 0 && label[0] == data[0] &&
                CheckedProduct(label.dims()) == CheckedProduct(data.dims()),
            "C1: label has shape {}, expected {}", ToString(label),
            ToString(data));
}

// slope(output, label) · grad_scale / (elements of an image)
std::vector<Value> RegressionOutputGradient(const Regression& regression,
                                            const RegressionOutputAttrs& a,
                                            GradientBuilder& g) {
  const Shape& data = g.In(0).shape();
  const int64_t elements = data.elements() / data[0];
  const Value label = g.Reshape(g.In(1), data);
  const double factor = a.grad_scale / static_cast<double>(elements);
  const Value slope = regression.slope(g, g.Out(), label);
  return {factor == 1 ? slope : g.Mul(slope, factor), Value()};
}

// LinearRegressionOutput's loss is half of the error whose gradient it has.
Value HalfSquaredError(GraphBuilder& b, Value output, Value label) {
  return b.Mul(b.Square(ErrorOf(b, output, label)), 0.5);
}

// The slope of the absolute error; −1 where there is none (MXNet's minus_sign).
Value SignOfError(GraphBuilder& b, Value output, Value label) {
  return b.Sub(b.Mul(b.Greater(output, label), 2), 1);
}

Value AbsoluteError(GraphBuilder& b, Value output, Value label) {
  return b.Abs(ErrorOf(b, output, label));
}

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

Value ErrorOf(GraphBuilder& b, Value output, Value label) {
  return b.Sub(output, label);
}

Operator RegressionOutput(std::string name, std::string doc,
                          Regression regression) {
  return Op<RegressionOutputAttrs>(std::move(name))
      .Doc(std::move(doc))
      .Inputs({{"data"}, {"label", InputKind::kLabel}})
      .Types(RegressionOutputTypes)
      .FloatsOnly()
      .Meaning([regression](const RegressionOutputAttrs&, Definition& def) {
        def.Set(0, regression.link(def.In(0, def.Indices())));
      })
      .Gradient(
          [regression](const RegressionOutputAttrs& a, GradientBuilder& g) {
            return RegressionOutputGradient(regression, a, g);
          })
      .Loss([regression](const RegressionOutputAttrs&, const Node& node,
                         GraphBuilder& b) {
        const Value output = OutputOf(node);
        const Value label = b.Reshape(node.inputs[1], output.shape());
        return MeanLoss(b, regression.loss(b, output, label));
      })
      .LossHead();
}

MXC_OP(LinearRegressionOutput) {
  return RegressionOutput(
      "LinearRegressionOutput",
      "the identity, with the gradient of the squared error",
      {[](Expr x) { return x; }, ErrorOf, HalfSquaredError});
}

MXC_OP(MAERegressionOutput) {
  return RegressionOutput(
      "MAERegressionOutput",
      "the identity, with the gradient of the absolute error",
      {[](Expr x) { return x; }, SignOfError, AbsoluteError});
}

MXC_OP(LogisticRegressionOutput) {
  return RegressionOutput("LogisticRegressionOutput",
                          "the sigmoid, with the gradient of the cross entropy",
                          {Sigmoid, ErrorOf, CrossEntropy});
}

}  // namespace mxc
