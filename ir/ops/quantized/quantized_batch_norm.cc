// SPDX-License-Identifier: Apache-2.0
// _contrib_quantized_batch_norm: BatchNorm of 8-bit numbers by the moving
// statistics, as i8 for a calibrated range.
//   data q[N, C, d1 …], gamma, beta, moving_mean, moving_var f32[C], and
//   min_data, max_data f32[1]
//   outputs  q[N, C, d1 …], min f32[1], max f32[1]
// C1  data are i8 or u8
// C2  the range of the output is calibrated
// C3  the channels are axis 1
// Source: MXNet 1.9.1 operator/quantization/quantized_batch_norm.cc.
#include "ir/ops/nn/norm/batch_norm.h"
#include "ir/ops/quantized/quantization.h"

namespace mxc {
namespace {

std::optional<std::string> QuantizedNormCheck(const BatchNormAttrs& a) {
  if (!a.min_calib_range || !a.max_calib_range) {
    return "C2: min_calib_range or max_calib_range is missing";
  }
  if (a.axis != 1) return fmt::format("C3: axis is {}, expected 1", a.axis);
  return std::nullopt;
}

std::vector<InputSpec> QuantizedNormInputs() {
  return {{"data", InputKind::kData},
          {"gamma", InputKind::kParameter},
          {"beta", InputKind::kParameter},
          {"moving_mean", InputKind::kParameter},
          {"moving_var", InputKind::kParameter},
          {"min_data", InputKind::kData},
          {"max_data", InputKind::kData}};
}

void QuantizedNormTypes(const BatchNormAttrs& a, TypeInference& t) {
  SetRangeTypes(t, 5, 1);
  ShapesOf("BatchNorm", &a, 5, t);
  for (int i = 1; i < 5; ++i) t.SetInDType(i, DType::kF32);
  RequireQuantized(t, 0);
  t.SetOutDType(0, DType::kI8);
}

void QuantizedNormMeaning(const BatchNormAttrs& a, Definition& def) {
  const Expr channel = def.Indices()[1];
  const Expr q = Cast(def.In(0, def.Indices()), DType::kF32);
  const Expr eps = Lit(a.eps, q);
  const Expr gamma = a.fix_gamma ? Lit(1, q) : def.In(1, {channel});
  const Expr slope = gamma / Sqrt(def.In(4, {channel}) + eps);
  const Expr x = q * LevelOf(def, 0, 5, kWideLevels);
  const Expr y = (x - def.In(3, {channel})) * slope + def.In(2, {channel});
  const Expr low = Lit(*a.min_calib_range, q);
  const Expr high = Lit(*a.max_calib_range, q);
  const Expr scale = Lit(kWideLevels.int8, q) / GreaterMagnitude(low, high);
  def.Set(0, RoundToLevels(y * scale, DType::kI8));
  def.Set(1, low);
  def.Set(2, high);
}

}  // namespace

MXC_OP(QuantizedBatchNorm) {
  return Op<BatchNormAttrs>("_contrib_quantized_batch_norm")
      .Doc("BatchNorm of 8-bit numbers by the moving statistics")
      .Inputs(QuantizedNormInputs())
      .Outputs(kRangedOutputs)
      .Check(QuantizedNormCheck)
      .Types(QuantizedNormTypes)
      .Meaning(QuantizedNormMeaning)
      .ZeroGradient();
}

}  // namespace mxc
