// SPDX-License-Identifier: Apache-2.0
// _contrib_requantize: 32-bit sums of products of quantized numbers as int8,
// for a calibrated range, or for the range of the sums.
//   data i32[…], min_range f32[1], max_range f32[1]
//   outputs  i8[…], min f32[1], max f32[1]
#include "ir/ops/tensor/quantization.h"

namespace mxc {
namespace {

enum class RequantizeOut : int { kInt8 };

struct RequantizeAttrs {
  RequantizeOut out_type = RequantizeOut::kInt8;
  std::optional<double> min_calib_range, max_calib_range;

  void Describe(Fields& f) {
    f("out_type", out_type).OneOf({"int8"}).Doc("type of the output");
    f("min_calib_range", min_calib_range).Doc("least value; None: of the data");
    f("max_calib_range", max_calib_range).Doc("greatest; None: of the data");
  }
};

void RequantizeTypes(const RequantizeAttrs&, TypeInference& t) {
  t.SetOut(0, t.In(0));
  t.SetIn(0, t.Out(0));
  t.SetInDType(0, DType::kI32);
  t.SetOutDType(0, DType::kI8);
  for (const int i : {1, 2}) {
    t.SetIn(i, Shape{1});
    t.SetOut(i, Shape{1});
    t.SetInDType(i, DType::kF32);
    t.SetOutDType(i, DType::kF32);
  }
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

void RequantizeMeaning(const RequantizeAttrs& attrs, Definition& def) {
  const Expr x = RealValue(def, def.Indices());
  const bool calibrated = attrs.min_calib_range && attrs.max_calib_range;
  const Expr magnitude = calibrated
                             ? GreaterMagnitude(Lit(*attrs.min_calib_range, x),
                                                Lit(*attrs.max_calib_range, x))
                             : GreatestRealMagnitude(def);
  def.Set(0, QuantizeInt8(x, -magnitude, magnitude, kPlainLevels));
  def.Set(1, -magnitude);
  def.Set(2, magnitude);
}

}  // namespace

MXC_OP(Requantize) {
  return Op<RequantizeAttrs>("_contrib_requantize")
      .Doc("32-bit sums as 8-bit integers")
      .Inputs({{"data", InputKind::kData},
               {"min_range", InputKind::kData},
               {"max_range", InputKind::kData}})
      .Outputs({"output", "min_output", "max_output"})
      .Types(RequantizeTypes)
      .Meaning(RequantizeMeaning)
      .ZeroGradient();
}

}  // namespace mxc
