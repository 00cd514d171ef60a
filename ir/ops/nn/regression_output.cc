// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/nn/regression_output.h"

#include "ir/ops/nn/loss.h"

namespace mxc {
namespace {

void RegressionOutputTypes(const RegressionOutputAttrs&, TypeInference& t) {
  t.AllSameDType();
  t.SetOut(0, t.In(0));
  if (t.error()) return;
  t.SetIn(0, t.Out(0));
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

}  // namespace mxc
