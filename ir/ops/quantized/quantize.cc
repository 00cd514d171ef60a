// SPDX-License-Identifier: Apache-2.0
// _contrib_quantize: floats as 8-bit integers, for a range that is given.
//   data f32[…], min_range f32[1], max_range f32[1]
//   outputs  q[…], and the range of q
#include "ir/ops/quantized/quantization.h"

namespace mxc {
namespace {

enum class QuantizeOut : int { kInt8, kUint8 };

struct QuantizeAttrs {
  QuantizeOut out_type = QuantizeOut::kUint8;

  void Describe(Fields& f) {
    f("out_type", out_type).OneOf({"int8", "uint8"}).Doc("type of the output");
  }
  bool is_int8() const { return out_type == QuantizeOut::kInt8; }
};

void QuantizeTypes(const QuantizeAttrs& attrs, TypeInference& t) {
  t.SetOut(0, t.In(0));
  t.SetIn(0, t.Out(0));
  t.SetInDType(0, DType::kF32);
  t.SetOutDType(0, attrs.is_int8() ? DType::kI8 : DType::kU8);
  SetRangeTypes(t, 1, 1);
}

void QuantizeMeaning(const QuantizeAttrs& attrs, Definition& def) {
  const Expr low = def.In(1, {0}), high = def.In(2, {0});
  const Expr x = def.In(0, def.Indices());
  const Expr magnitude = GreaterMagnitude(low, high);
  const bool int8 = attrs.is_int8();
  def.Set(0, int8 ? QuantizeInt8(x, low, high, kPlainLevels)
                  : QuantizeUint8(x, low, high, kPlainLevels));
  def.Set(1, int8 ? -magnitude : low);
  def.Set(2, int8 ? magnitude : high);
}

}  // namespace

MXC_OP(Quantize) {
  return Op<QuantizeAttrs>("_contrib_quantize")
      .Doc("floats as 8-bit integers, for a given range")
      .Inputs({{"data", InputKind::kData},
               {"min_range", InputKind::kData},
               {"max_range", InputKind::kData}})
      .Outputs(kRangedOutputs)
      .Types(QuantizeTypes)
      .Meaning(QuantizeMeaning)
      .ZeroGradient();
}

}  // namespace mxc
