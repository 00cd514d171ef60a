// SPDX-License-Identifier: Apache-2.0
// _contrib_requantize: 32-bit sums of products of quantized numbers as 8-bit
// integers, for a calibrated range, or for the range of the sums. uint8 counts
// from 0: what is negative is 0.
//   data i32[…], min_range f32[1], max_range f32[1]
//   outputs  q[…], min f32[1], max f32[1]
#include "ir/ops/quantized/quantization.h"

namespace mxc {
namespace {

void RequantizeTypes(const QuantizedAttrs& attrs, TypeInference& t) {
  t.SetOut(0, t.In(0));
  t.SetIn(0, t.Out(0));
  t.SetInDType(0, DType::kI32);
  t.SetOutDType(0, attrs.is_int8() ? DType::kI8 : DType::kU8);
  SetRangeTypes(t, 1, 1);
}

// The number that a sum stands for.
Expr RealValue(const Definition& def, const std::vector<Expr>& index) {
  const Expr magnitude = GreaterMagnitude(def.In(1, {0}), def.In(2, {0}));
  const Expr q = Cast(def.In(0, index), DType::kF32);
  return q * (magnitude / Lit(2147483647, magnitude));
}

Expr GreatestRealMagnitude(const Definition& def) {
  const Extents& dims = def.InShape(0).dims();
  return Definition::MaxOf({dims.begin(), dims.end()}, [&](const auto& r) {
    return Abs(RealValue(def, r));
  });
}

void RequantizeMeaning(const QuantizedAttrs& attrs, Definition& def) {
  const Expr x = RealValue(def, def.Indices());
  const Expr magnitude = attrs.calibrated()
                             ? GreaterMagnitude(Lit(*attrs.min_calib_range, x),
                                                Lit(*attrs.max_calib_range, x))
                             : GreatestRealMagnitude(def);
  const Expr zero = Lit(0, x);
  const bool int8 = attrs.is_int8();
  def.Set(0, int8 ? QuantizeInt8(x, -magnitude, magnitude, kPlainLevels)
                  : QuantizeUint8(x, zero, magnitude, kPlainLevels));
  def.Set(1, int8 ? -magnitude : zero);
  def.Set(2, magnitude);
}

}  // namespace

MXC_OP(Requantize) {
  return Op<QuantizedAttrs>("_contrib_requantize")
      .Doc("32-bit sums as 8-bit integers")
      .Inputs({{"data", InputKind::kData},
               {"min_range", InputKind::kData},
               {"max_range", InputKind::kData}})
      .Outputs(kRangedOutputs)
      .Types(RequantizeTypes)
      .Meaning(RequantizeMeaning)
      .ZeroGradient();
}

}  // namespace mxc
