// SPDX-License-Identifier: Apache-2.0
// _multi_box_decode: boxes from their differences to anchors, in units of
// variances v; our own operator, see multi_box_detection.cc.
//   loc_pred  f[N, 4·A]      dx, dy, dw, dh
//   anchor    f[1, A, 4]     x1, y1, x2, y2
//   output    f[N, A, 4]     x1, y1, x2, y2: centre (anchor's) + v·dx·w, length
//                            exp(v·dw)·w; within 0 … 1 with clip
// Source: MXNet 1.9.1 operator/contrib/multibox_detection.cc.
#include "ir/ops/nn/detection/box.h"
#include "ir/ops/nn/detection/multi_box_detection.h"

namespace mxc {
namespace {

void MultiBoxDecodeTypes(const MultiBoxDetectionAttrs&, TypeInference& t) {
  t.AllSameDType();
  t.SetOut(0, {t.In(0)[0], t.In(1)[1], 4});
}

void MultiBoxDecodeMeaning(const MultiBoxDetectionAttrs& a, Definition& def) {
  const std::vector<Expr> i = def.Indices();
  const Shape& shape = def.OutShape();
  for (int k = 0; k < 4; ++k) {
    const int d = k % 2;
    const auto difference = [&](int column) {
      return def.In(0, {i[0], i[1] * 4 + column}) *
             def.Lit(a.variances[static_cast<size_t>(column)]);
    };
    const BoxSide anchor = BoxSideOf(BoxFormat::kCorner, d, [&](int column) {
      return def.In(1, {0, i[1], column});
    });
    const Expr centre = difference(d) * anchor.length() + anchor.centre();
    const Expr half = Exp(difference(d + 2)) * anchor.length() / def.Lit(2);
    Expr corner = k < 2 ? centre - half : centre + half;
    if (a.clip) corner = Max(Min(corner, def.Lit(1)), def.Lit(0));
    def.SetBox(0, {0, 0, k}, {shape[0], shape[1], 1}, corner);
  }
}

}  // namespace

MXC_OP(MultiBoxDecode) {
  return Op<MultiBoxDetectionAttrs>("_multi_box_decode")
      .Internal()
      .Doc("boxes from their differences to anchors")
      .Inputs({{"loc_pred"}, {"anchor"}})
      .Types(MultiBoxDecodeTypes)
      .Meaning(MultiBoxDecodeMeaning)
      .ZeroGradient();
}

}  // namespace mxc
