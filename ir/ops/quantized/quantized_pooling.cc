// SPDX-License-Identifier: Apache-2.0
// _contrib_quantized_pooling: the greatest or the mean of 8-bit numbers in a
// window, see Pooling. Means are rounded; where the padding counts, cells behind
// it count, too, if pooling_convention is full.
//   data q[N, C, d1 …], min_data f32[1], max_data f32[1]
//   outputs  q[N, C, o1 …], and the same range
// C1  data are i8 or u8
// C2  pool_type is max or avg
// Source: MXNet 1.9.1 operator/quantization/quantized_pooling.cc; its values.
#include "ir/ops/nn/pooling/pooling.h"
#include "ir/ops/quantized/quantization.h"
#include "ir/ops/quantized/round_to_levels.h"

namespace mxc {
namespace {

std::optional<std::string> QuantizedPoolingCheck(const PoolingAttrs& a) {
  if (a.pool_type != PoolType::kMax && a.pool_type != PoolType::kAvg) {
    return "C2: pool_type is neither max nor avg";
  }
  return FindOperator("Pooling")->check(&a);
}

void QuantizedPoolingTypes(const PoolingAttrs& a, TypeInference& t) {
  SetRangeTypes(t, 1, 1);
  ShapesOf("Pooling", &a, 1, t);
  if (RequireQuantized(t, 0)) t.SetOutDType(0, t.InDType(0));
}

Value MeanOfWindows(PoolingAttrs a, Value data, GraphBuilder& b) {
  if (a.global_pool || !a.count_include_pad.value_or(true)) {
    return b.Op<op::Pooling>({data}, a);
  }
  double cells = 1;
  for (const int64_t extent : a.kernel) cells *= static_cast<double>(extent);
  a.pool_type = PoolType::kSum;
  return b.Mul(b.Op<op::Pooling>({data}, a), 1 / cells);
}

std::vector<Value> QuantizedPoolingParts(const PoolingAttrs& a,
                                         const Node& node, GraphBuilder& b) {
  const DType dtype = node.types[0].dtype;
  if (a.pool_type == PoolType::kMax) {
    return WithRangeOf(node, b.Op<op::Pooling>({node.inputs[0]}, a));
  }
  const Value data = b.Cast(node.inputs[0], DType::kF32);
  const Value means =
      b.Op<op::RoundToLevels>({MeanOfWindows(a, data, b)}, {.levels = dtype});
  return WithRangeOf(node, b.Cast(means, dtype));
}

}  // namespace

MXC_OP(QuantizedPooling) {
  return Op<PoolingAttrs>("_contrib_quantized_pooling")
      .Doc("Pooling of 8-bit numbers")
      .Inputs(RangedInputs())
      .Outputs(kRangedOutputs)
      .Check(QuantizedPoolingCheck)
      .Types(QuantizedPoolingTypes)
      .Decompose(QuantizedPoolingParts)
      .ZeroGradient();
}

}  // namespace mxc
