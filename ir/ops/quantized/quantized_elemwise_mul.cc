// SPDX-License-Identifier: Apache-2.0
// _contrib_quantized_elemwise_mul: the product of 8-bit numbers of two ranges.
// The output is the product of the integers, i32, for the product of both
// ranges; for a calibrated range i8, towards zero; or f32, the only output then.
// See quantized_elemwise.h.
// Source: MXNet 1.9.1 operator/quantization/quantized_elemwise_mul.cc, whose i8
// wraps around beyond its range; here it is limited.
#include "ir/ops/quantized/quantized_elemwise.h"

namespace mxc {
namespace {

struct QuantizedMulAttrs : CalibratedAttrs {
  bool enable_float_output = false;

  void Describe(Fields& f) {
    CalibratedAttrs::Describe(f);
    f("enable_float_output", enable_float_output).Doc("the product as float32");
  }
};

void QuantizedMulTypes(const QuantizedMulAttrs& a, TypeInference& t) {
  if (!QuantizedPairTypes(t)) return;
  t.SetOutDType(0, a.enable_float_output ? DType::kF32
                   : a.calibrated()      ? DType::kI8
                                         : DType::kI32);
}

Expr Limited(const Expr& x) {
  return Max(Min(Unary(UnaryOp::kTrunc, x), Lit(127, x)), Lit(-128, x));
}

void QuantizedMulMeaning(const QuantizedMulAttrs& a, Definition& def) {
  const auto level = [&](const Levels& levels) {
    return LevelOf(def, 0, 2, levels) * LevelOf(def, 1, 4, levels);
  };
  const auto q = [&](int i) { return def.In(i, def.Indices()); };
  const Expr real =
      Cast(q(0), DType::kF32) * Cast(q(1), DType::kF32) * level(kWideLevels);
  if (a.enable_float_output) return def.Set(0, real);
  if (a.calibrated()) {
    const Expr low = Lit(*a.min_calib_range, real);
    const Expr high = Lit(*a.max_calib_range, real);
    const Expr levels = Lit(kWideLevels.int8, real);
    def.Set(0, Limited(real * (levels / GreaterMagnitude(low, high))));
    def.Set(1, low);
    return def.Set(2, high);
  }
  def.Set(0, Cast(q(0), DType::kI32) * Cast(q(1), DType::kI32));
  const Expr range = level(kPlainLevels) * Lit(2147483647, real);
  def.Set(1, -range);
  def.Set(2, range);
}

}  // namespace

MXC_OP(QuantizedElemwiseMul) {
  return Op<QuantizedMulAttrs>("_contrib_quantized_elemwise_mul")
      .Doc("product of 8-bit numbers")
      .Inputs(QuantizedPairInputs())
      .OutputsOf([](const QuantizedMulAttrs& a) {
        if (a.enable_float_output) return std::vector<std::string>{"output"};
        return kRangedOutputs;
      })
      .Types(QuantizedMulTypes)
      .Meaning(QuantizedMulMeaning)
      .ZeroGradient();
}

}  // namespace mxc
