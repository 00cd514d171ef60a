// SPDX-License-Identifier: Apache-2.0
// _contrib_dequantize: 8-bit integers of a range as floats.
//   data q[…], min_range f32[1], max_range f32[1] → f32[…]
// C1  data are i8 or u8
#include "ir/ops/quantized/quantization.h"

namespace mxc {
namespace {

enum class DequantizeOut : int { kF32 };

struct DequantizeAttrs {
  DequantizeOut out_type = DequantizeOut::kF32;

  void Describe(Fields& f) {
    f("out_type", out_type).OneOf({"float32"}).Doc("type of the output");
  }
};

void DequantizeTypes(const DequantizeAttrs&, TypeInference& t) {
  t.SetOut(0, t.In(0));
  t.SetIn(0, t.Out(0));
  t.SetOutDType(0, DType::kF32);
  const DType given = t.InDType(0);
  t.Require(
      given == DType::kUnknown || given == DType::kI8 || given == DType::kU8,
      "C1: data have type {}, expected i8 or u8", ShortName(given));
  SetRangeTypes(t, 1, 1);
}

void DequantizeMeaning(const DequantizeAttrs&, Definition& def) {
  const Expr low = def.In(1, {0}), high = def.In(2, {0});
  const Expr q = Cast(def.In(0, def.Indices()), DType::kF32);
  if (def.InDType(0) == DType::kI8) {
    const Expr levels = def.Lit(kWideLevels.int8);
    def.Set(0, q * (GreaterMagnitude(low, high) / levels));
  } else {
    const Expr levels = def.Lit(kWideLevels.uint8);
    def.Set(0, q * ((high - low) / levels) + low);
  }
}

}  // namespace

MXC_OP(Dequantize) {
  return Op<DequantizeAttrs>("_contrib_dequantize")
      .Doc("8-bit integers as floats")
      .Inputs({{"data", InputKind::kData},
               {"min_range", InputKind::kData},
               {"max_range", InputKind::kData}})
      .Types(DequantizeTypes)
      .Meaning(DequantizeMeaning)
      .ZeroGradient();
}

}  // namespace mxc
