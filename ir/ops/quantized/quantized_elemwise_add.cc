// SPDX-License-Identifier: Apache-2.0
// _contrib_quantized_elemwise_add: the sum of 8-bit numbers of two ranges.
// The output is i32 for the sum of both ranges, or for a calibrated range u8
// where both are u8, else i8. See quantized_elemwise.h.
// Source: MXNet 1.9.1 operator/quantization/mkldnn/
// mkldnn_quantized_elemwise_add.cc. It adds the i8 alone of an i8
// and a u8; here both count.
#include "ir/ops/quantized/quantized_elemwise.h"

namespace mxc {
namespace {

void QuantizedAddTypes(const CalibratedAttrs& a, TypeInference& t) {
  if (!QuantizedPairTypes(t)) return;
  const bool both_u8 = t.InDType(0) == DType::kU8 && t.InDType(1) == DType::kU8;
  t.SetOutDType(0, !a.calibrated() ? DType::kI32
                   : both_u8       ? DType::kU8
                                   : DType::kI8);
}

void QuantizedAddMeaning(const CalibratedAttrs& a, Definition& def) {
  const auto real = [&](int i) {
    return Cast(def.In(i, def.Indices()), DType::kF32) *
           LevelOf(def, i, 2 + 2 * i, kWideLevels);
  };
  const Expr sum = real(0) + real(1);
  const Expr both = GreaterMagnitude(def.In(2, {0}), def.In(3, {0})) +
                    GreaterMagnitude(def.In(4, {0}), def.In(5, {0}));
  const Expr low = a.calibrated() ? Lit(*a.min_calib_range, sum) : -both;
  const Expr high = a.calibrated() ? Lit(*a.max_calib_range, sum) : both;
  const Expr levels = Lit(LevelsOf(def.OutDType(), kWideLevels), sum);
  const Expr scale = levels / GreaterMagnitude(low, high);
  def.Set(0, RoundToLevels(sum * scale, def.OutDType()));
  def.Set(1, low);
  def.Set(2, high);
}

}  // namespace

MXC_OP(QuantizedElemwiseAdd) {
  return Op<CalibratedAttrs>("_contrib_quantized_elemwise_add")
      .Doc("sum of 8-bit numbers")
      .Inputs(QuantizedPairInputs())
      .Outputs(kRangedOutputs)
      .Types(QuantizedAddTypes)
      .Meaning(QuantizedAddMeaning)
      .ZeroGradient();
}

}  // namespace mxc
