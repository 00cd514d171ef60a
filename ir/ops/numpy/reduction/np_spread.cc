// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/reduction/np_spread.h"

#include "ir/ops/numpy/np_composition.h"
#include "ir/ops/tensor/reduction/moments.h"

namespace mxc {

void SpreadTypes(const SpreadAttrs& attrs, TypeInference& t) {
  const DType given = t.InDType(0);
  const DType result = attrs.dtype.value_or(given);
  for (const DType dtype : {given, result}) {
    t.Require(dtype == DType::kUnknown || IsFloat(dtype),
              "C2: {} of {}, expected floats", ShortName(result),
              ShortName(given));
  }
  t.SetOutDType(0, result);
  NpReductionShape(attrs.reduction(), t);
}

Value Variance(const SpreadAttrs& attrs, const Node& node, GraphBuilder& b) {
  const Value a = node.inputs[0];
  const Extents axes = ReducedAxes(attrs.reduction(), a.shape().rank());
  const Value x = b.Cast(a, node.types[0].dtype);
  if (axes.empty()) return b.Zeros(node.types[0]);
  const Value variance = b.Ops<op::Moments>({x}, {.axes = axes})[1];
  const double count =
      static_cast<double>(ReducedCount(attrs.reduction(), a.shape()));
  const Value scaled =
      attrs.ddof == 0
          ? variance
          : b.Mul(variance, count / (count - static_cast<double>(attrs.ddof)));
  return b.Reshape(scaled, node.types[0].shape);
}

MXC_OP(NpiVar) {
  return Op<SpreadAttrs>("_npi_var")
      .Doc("numpy.var")
      .Inputs({{"a", InputKind::kData}})
      .Types(SpreadTypes)
      .Decompose([](const SpreadAttrs& a, const Node& node,
                    GraphBuilder& b) -> std::vector<Value> {
        return {Variance(a, node, b)};
      });
}

MXC_OP(NpiStd) {
  return Op<SpreadAttrs>("_npi_std")
      .Doc("numpy.std")
      .Inputs({{"a", InputKind::kData}})
      .Types(SpreadTypes)
      .Decompose([](const SpreadAttrs& a, const Node& node,
                    GraphBuilder& b) -> std::vector<Value> {
        return {b.Sqrt(Variance(a, node, b))};
      });
}

}  // namespace mxc
