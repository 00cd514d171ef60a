// SPDX-License-Identifier: Apache-2.0
// _contrib_box_decode: boxes from their differences to anchors.
//   data     f[N, A, 4]   dx, dy, dw, dh, in units of std0 … std3
//   anchors  f[1, A, 4]
//   output   f[N, A, 4]   corners: centre d·std·size + centre, size
//            exp(d·std)·size; the exponent at most `clip` where that is
//            positive
// C1  data has 3 axes, the last one 4, and anchors the shape that follows
// Source: MXNet 1.9.1 operator/contrib/bounding_box.cc.
#include "ir/ops/nn/detection/box.h"
#include "ir/ops/op.h"

namespace mxc {
namespace {

struct BoxDecodeAttrs {
  double std0 = 1, std1 = 1, std2 = 1, std3 = 1;
  double clip = -1;
  BoxFormat format = BoxFormat::kCenter;

  void Describe(Fields& f) {
    f("std0", std0).Doc("unit of dx");
    f("std1", std1).Doc("unit of dy");
    f("std2", std2).Doc("unit of dw");
    f("std3", std3).Doc("unit of dh");
    f("clip", clip).Doc("largest exponent, if positive");
    f("format", format).OneOf({"corner", "center"}).Doc("of anchors");
  }
};

void BoxDecodeTypes(const BoxDecodeAttrs&, TypeInference& t) {
  t.AllSameDType();
  t.SetOut(0, t.In(0));
  const Shape& data = t.In(0);
  if (!data.known()) return;
  if (!t.Require(data.rank() == 3 && data[2] == 4,
                 "C1: data has shape {}, expected (N, A, 4)", ToString(data))) {
    return;
  }
  t.SetIn(1, {1, data[1], 4});
}

void BoxDecodeMeaning(const BoxDecodeAttrs& a, Definition& def) {
  const std::vector<Expr> i = def.Indices();
  const double units[] = {a.std0, a.std1, a.std2, a.std3};
  const auto corner = [&](int d, double sign) {
    const BoxSide anchor =
        BoxSideOf(a.format, d, [&](int k) { return def.In(1, {0, i[1], k}); });
    const auto difference = [&](int k) {
      return def.In(0, {i[0], i[1], k}) * def.Lit(units[k]);
    };
    Expr growth = difference(d + 2);
    if (a.clip > 0) growth = Min(growth, def.Lit(a.clip));
    const Expr centre = difference(d) * anchor.length() + anchor.centre();
    return centre + Exp(growth) * anchor.length() * def.Lit(sign / 2);
  };
  def.Set(0, Select(i[2] < 2, Select(i[2] == 0, corner(0, -1), corner(1, -1)),
                    Select(i[2] == 2, corner(0, 1), corner(1, 1))));
}

}  // namespace

MXC_OP(BoxDecode) {
  return Op<BoxDecodeAttrs>("_contrib_box_decode")
      .Doc("boxes from their differences to anchors")
      .Inputs({{"data"}, {"anchors"}})
      .Types(BoxDecodeTypes)
      .FloatsOnly()
      .Meaning(BoxDecodeMeaning)
      .ZeroGradient();
}

}  // namespace mxc
