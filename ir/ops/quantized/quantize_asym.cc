// SPDX-License-Identifier: Apache-2.0
// _contrib_quantize_asym: floats as unsigned bytes, the least as 0 and the
// greatest as 255.
//   data    f32[…]
//   output  u8[…]: data·scale + shift, rounded, halves up (MXNet's oneDNN: to
//           even); limited to 0 … 255
//   scale   f32[1]: 255 / (greatest − least), of data or as the attributes say
//   shift   f32[1]: 255 − greatest·scale
// Source: MXNet 1.9.1 operator/quantization/quantize_asym-inl.h.
#include "ir/ops/op.h"
#include "ir/ops/tensor/elementwise/clip.h"

namespace mxc {
namespace {

struct QuantizeAsymAttrs {
  std::optional<double> min_calib_range, max_calib_range;

  void Describe(Fields& f) {
    f("min_calib_range", min_calib_range).Doc("the least; None: of data");
    f("max_calib_range", max_calib_range).Doc("the greatest; None: of data");
  }

  bool calibrated() const { return min_calib_range && max_calib_range; }
};

void QuantizeAsymTypes(const QuantizeAsymAttrs&, TypeInference& t) {
  t.SetIn(0, t.Out(0));
  t.SetOut(0, t.In(0));
  t.SetInDType(0, DType::kF32);
  t.SetOutDType(0, DType::kU8);
  for (const int range : {1, 2}) {
    t.SetOut(range, Shape{1});
    t.SetOutDType(range, DType::kF32);
  }
}

// The least and the greatest of data are nodes of their own, which every
// element reads.
std::vector<Value> QuantizeAsymParts(const QuantizeAsymAttrs& a,
                                     const Node& node, GraphBuilder& b) {
  const Value data = node.inputs[0];
  const auto bound = [&](const std::optional<double>& stated,
                         const Operator& op) {
    return a.calibrated() ? b.Scalar(*stated)
                          : b.Reshape(b.Op(op, {data}), Shape{1});
  };
  const Value least = bound(a.min_calib_range, OperatorOf<op::Min>());
  const Value greatest = bound(a.max_calib_range, OperatorOf<op::Max>());
  const Value scale = b.Div(255, b.Sub(greatest, least));
  const Value shift = b.Sub(255, b.Mul(greatest, scale));
  const Shape along(Extents(data.shape().rank(), 1));
  const auto over = [&](Value number) { return b.Reshape(number, along); };
  const Value level = b.Add(b.Add(b.Mul(data, over(scale)), over(shift)), 0.5);
  const Value limited = b.Op<op::Clip>({level}, {.a_min = 0, .a_max = 255});
  return {b.Cast(limited, DType::kU8), scale, shift};
}

}  // namespace

MXC_OP(QuantizeAsym) {
  return Op<QuantizeAsymAttrs>("_contrib_quantize_asym")
      .Doc("floats as unsigned bytes, by a scale and a shift")
      .Outputs({"output", "scale", "shift"})
      .Types(QuantizeAsymTypes)
      .Decompose(QuantizeAsymParts)
      .ZeroGradient();
}

}  // namespace mxc
