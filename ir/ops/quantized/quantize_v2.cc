// SPDX-License-Identifier: Apache-2.0
// _contrib_quantize_v2: floats as 8-bit integers, for a calibrated range, or
// for the range of the data. uint8 counts from 0 to the greater magnitude of
// the range: what is negative is 0.
//   outputs  q[…], min f32[1], max f32[1]
// C1  data are f32
#include <algorithm>
#include <cmath>

#include "ir/ops/quantized/quantization.h"
#include "ir/ops/quantized/round_to_levels.h"

namespace mxc {
namespace {

void QuantizeV2Types(const QuantizedAttrs& attrs, TypeInference& t) {
  t.SetOut(0, t.In(0));
  t.SetIn(0, t.Out(0));
  const DType given = t.InDType(0);
  t.Require(given == DType::kUnknown || given == DType::kF32,
            "C1: data have type {}, expected f32", ShortName(given));
  t.SetInDType(0, DType::kF32);
  t.SetOutDType(0, attrs.is_int8() ? DType::kI8 : DType::kU8);
  SetRangeTypes(t, 1, 1);
}

// The least or the greatest of all data.
Expr ExtremeOf(const Definition& def, ReduceOp op) {
  const Extents& dims = def.InShape(0).dims();
  return Definition::ReduceOver(op, std::vector<Expr>(dims.size(), 0),
                                {dims.begin(), dims.end()},
                                [&](const auto& r) { return def.In(0, r); });
}

void QuantizeV2Meaning(const QuantizedAttrs& attrs, Definition& def) {
  const Expr x = def.In(0, def.Indices());
  const Expr low = attrs.calibrated() ? Lit(*attrs.min_calib_range, x)
                                      : ExtremeOf(def, ReduceOp::kMin);
  const Expr high = attrs.calibrated() ? Lit(*attrs.max_calib_range, x)
                                       : ExtremeOf(def, ReduceOp::kMax);
  const Expr magnitude = GreaterMagnitude(low, high);
  const bool int8 = attrs.is_int8();
  def.Set(0, int8 ? QuantizeInt8(x, low, high, kWideLevels)
                  : QuantizeUint8(x, Lit(0, x), magnitude, kWideLevels));
  def.Set(1, int8 ? -magnitude : low);
  def.Set(2, int8 ? magnitude : high);
}

// A calibrated range is known before anything runs, and all that follows from it.
std::vector<Value> QuantizeV2Parts(const QuantizedAttrs& attrs,
                                   const Node& node, GraphBuilder& b) {
  if (!attrs.calibrated()) return {};
  const double low = *attrs.min_calib_range, high = *attrs.max_calib_range;
  const double magnitude = std::max(std::abs(low), std::abs(high));
  const DType dtype = node.types[0].dtype;
  const Value scale = b.Div(LevelsOf(dtype, kWideLevels), b.Scalar(magnitude));
  const Value x = b.Mul(node.inputs[0], scale);
  const Value rounded = b.Op<op::RoundToLevels>(
      {b.Reshape(x, node.types[0].shape)}, {.levels = dtype});
  const bool int8 = dtype == DType::kI8;
  return {b.Cast(rounded, dtype), b.Scalar(int8 ? -magnitude : low),
          b.Scalar(int8 ? magnitude : high)};
}

}  // namespace

MXC_OP(QuantizeV2) {
  return Op<QuantizedAttrs>("_contrib_quantize_v2")
      .Doc("floats as 8-bit integers, for a calibrated or measured range")
      .Outputs(kRangedOutputs)
      .Types(QuantizeV2Types)
      .Meaning(QuantizeV2Meaning)
      .Decompose(QuantizeV2Parts)
      .ZeroGradient();
}

}  // namespace mxc
