// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/random/density.h"

#include <algorithm>

namespace mxc {
namespace {

void DensityTypes(const DensityAttrs&, TypeInference& t) {
  t.AllSameDType();
  t.SetOut(0, t.In(0));
  t.SetIn(0, t.Out(0));
  const Shape& sample = t.In(0);
  for (int i = 1; i < t.inputs(); ++i) {
    const Shape& parameter = t.In(i);
    if (!sample.known() || !parameter.known()) continue;
    const bool leads =
        parameter.rank() <= sample.rank() && parameter == t.In(1) &&
        std::ranges::equal(
            parameter.dims(),
            std::span(sample.dims()).first(parameter.dims().size()));
    t.Require(leads, "C1: a parameter has shape {}, sample {}",
              ToString(parameter), ToString(sample));
  }
}

// A parameter of [P…] as [P…, 1…].
Value Along(GraphBuilder& b, Value parameter, int rank) {
  Extents dims = parameter.shape().dims();
  dims.resize(rank, 1);
  return b.Reshape(parameter, Shape(dims));
}

}  // namespace

Operator DensityOperator(const std::string& distribution,
                         const std::vector<std::string>& parameters,
                         LogDensity density) {
  std::vector<InputSpec> inputs = {{"sample"}};
  for (const std::string& name : parameters) inputs.push_back({name});
  return Op<DensityAttrs>("_random_pdf_" + distribution)
      .Alias({"random_pdf_" + distribution})
      .Doc("the density of a distribution at samples")
      .Inputs(inputs)
      .Types(DensityTypes)
      .FloatsOnly()
      .Decompose([density](const DensityAttrs& attrs, const Node& node,
                           GraphBuilder& b) -> std::vector<Value> {
        const Value sample = node.inputs[0];
        std::vector<Value> along;
        for (size_t i = 1; i < node.inputs.size(); ++i) {
          along.push_back(Along(b, node.inputs[i], sample.shape().rank()));
        }
        return {Density(attrs, b, density(b, sample, along))};
      });
}

Value Density(const DensityAttrs& attrs, GraphBuilder& b, Value logarithm) {
  return attrs.is_log ? logarithm : b.Exp(logarithm);
}

Value LogGamma(GraphBuilder& b, Value x) { return b.Op<op::Gammaln>({x}); }

Value LogPoisson(GraphBuilder& b, Value sample, Value mean) {
  const Value x = b.Op<op::BlockGrad>({sample});
  const Value ways = LogGamma(b, b.Add(x, 1));
  return b.Sub(b.Sub(b.Mul(x, b.Log(mean)), ways), mean);
}

Value LogNegativeBinomial(GraphBuilder& b, Value sample, Value k, Value p) {
  const Value x = b.Op<op::BlockGrad>({sample});
  const Value ways = b.Sub(b.Sub(LogGamma(b, b.Add(x, k)), LogGamma(b, k)),
                           LogGamma(b, b.Add(x, 1)));
  const Value failed = b.Mul(x, b.Log(b.Sub(1, p)));
  return b.Add(ways, b.Add(b.Mul(k, b.Log(p)), failed));
}

}  // namespace mxc
