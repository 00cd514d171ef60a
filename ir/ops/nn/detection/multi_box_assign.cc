// SPDX-License-Identifier: Apache-2.0
// _multi_box_assign: the three outputs of _contrib_MultiBoxTarget, from the
// object of each anchor; our own operator, see multi_box_target.cc.
//   anchor  f[1, A, 4]
//   label   f[N, G, ≥ 5]
//   match   i32[N, A]       the row of label, kIgnoredAnchor or kNegativeAnchor
// Differences, in units of variances: of the centres to the anchor's lengths,
// and the logarithms of the lengths' quotients.
// Source: MXNet 1.9.1 operator/contrib/multibox_target.cc.
#include "ir/ops/nn/detection/box.h"
#include "ir/ops/nn/detection/multi_box_target.h"

namespace mxc {
namespace {

void MultiBoxAssignTypes(const MultiBoxTargetAttrs&, TypeInference& t) {
  const int64_t images = t.In(1)[0], anchors = t.In(0)[1];
  for (const int k : {0, 1, 2}) {
    t.SetOut(k, {images, k < 2 ? 4 * anchors : anchors});
    t.SetOutDType(k, t.InDType(0));
  }
}

Expr Difference(const MultiBoxTargetAttrs& a, const Definition& def,
                const Expr& image, const Expr& anchor, const Expr& object,
                int k) {
  const int d = k % 2;
  const BoxSide from = BoxSideOf(BoxFormat::kCorner, d, [&](int column) {
    return def.In(0, {0, anchor, column});
  });
  const BoxSide to = BoxSideOf(BoxFormat::kCorner, d, [&](int column) {
    return def.In(1, {image, object, column + 1});
  });
  const Expr unit = def.Lit(a.variances[static_cast<size_t>(k)]);
  if (k >= 2) return Log(to.length() / from.length()) / unit;
  return (to.centre() - from.centre()) / from.length() / unit;
}

void MultiBoxAssignMeaning(const MultiBoxTargetAttrs& a, Definition& def) {
  const std::vector<Expr> i = def.Indices(0);
  const Expr anchor = i[1] / 4, column = i[1] % 4;
  const Expr object = Cast(def.In(2, {i[0], anchor}), DType::kI64);
  const auto difference = [&](int k) {
    return Difference(a, def, i[0], anchor, object, k);
  };
  const Expr chosen =
      Select(column < 2, Select(column == 0, difference(0), difference(1)),
             Select(column == 2, difference(2), difference(3)));
  def.Set(0, Select(object >= 0, chosen, def.Lit(0)));

  const std::vector<Expr> m = def.Indices(1);
  def.Set(1, Select(def.In(2, {m[0], m[1] / 4}) >= Constant(0, DType::kI32),
                    def.Lit(1), def.Lit(0)));

  const std::vector<Expr> c = def.Indices(2);
  const Expr match = Cast(def.In(2, c), DType::kI64);
  def.Set(2, Select(match >= 0, def.In(1, {c[0], match, 0}) + def.Lit(1),
                    Select(match == kNegativeAnchor, def.Lit(0),
                           def.Lit(a.ignore_label))));
}

}  // namespace

MXC_OP(MultiBoxAssign) {
  return Op<MultiBoxTargetAttrs>("_multi_box_assign")
      .Internal()
      .Doc("what a detector shall say of anchors whose objects are known")
      .Inputs({{"anchor"}, {"label"}, {"match"}})
      .Outputs({"loc_target", "loc_mask", "cls_target"})
      .Types(MultiBoxAssignTypes)
      .Meaning(MultiBoxAssignMeaning)
      .ZeroGradient();
}

}  // namespace mxc
