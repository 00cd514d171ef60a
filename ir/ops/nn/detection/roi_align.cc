// SPDX-License-Identifier: Apache-2.0
// _contrib_ROIAlign: the averages of h × w parts of each region of interest,
// each taken at sample_ratio² points, interpolated.
//   data    f[N, C, H, W]
//   rois    f[R, 5]          image, x1, y1, x2, y2; scaled, not rounded
//   output  f[R, C, h, w];   f[R, C / (h·w), h, w] with position_sensitive,
//                            where each part reads channels of its own
// Points outside −1 … H count as 0, those less far outside are on the border.
// sample_ratio ≤ 0 means ⌈region / parts⌉. Regions are at least one cell wide,
// unless aligned, which shifts them by half a cell.
// C1  data has 4 axes and rois 5 columns
// C2  pooled_size is (h, w), positive, at most 2^20
// C3  position_sensitive: h·w divides the channels
// Source: MXNet 1.9.1 operator/contrib/roi_align.cc.
#include "ir/ops/nn/detection/roi_align.h"
#include "ir/ops/nn/meaning_gradient.h"

namespace mxc {

std::optional<std::string> RoiAlignCheck(const RoiAlignAttrs& a) {
  return PooledSizeCheck(a.pooled_size);
}

void RoiAlignTypes(const RoiAlignAttrs& a, TypeInference& t) {
  if (!RoiTypes(t)) return;
  const int64_t h = a.pooled_size[0], w = a.pooled_size[1];
  int64_t channels = t.In(0)[1];
  if (a.position_sensitive) {
    if (!t.Require(channels % (h * w) == 0,
                   "C3: {} parts do not divide {} channels", h * w, channels)) {
      return;
    }
    channels /= h * w;
  }
  t.SetOut(0, {t.In(1)[0], channels, h, w});
}

RoiAlignPoints::Side RoiAlignPoints::SideOf(const RoiAlignAttrs& a,
                                            const Definition& def, Expr roi,
                                            int d) {
  const Expr scale = def.Lit(a.spatial_scale);
  const Expr offset = def.Lit(a.aligned ? 0.5 : 0);
  const auto corner = [&](int column) {
    return RoiCoordinate(def, roi, column) * scale - offset;
  };
  Side side;
  side.start = corner(2 - d);
  Expr length = corner(4 - d) - side.start;
  if (!a.aligned) length = Max(length, def.Lit(1));
  const double parts = static_cast<double>(a.pooled_size[d]);
  side.part = length / def.Lit(parts);
  side.points = PointsAlong(side.part, a.sample_ratio);
  return side;
}

RoiAlignPoints::RoiAlignPoints(const RoiAlignAttrs& a, const Definition& def)
    : dtype_(def.OutDType()),
      sides_{SideOf(a, def, Var(0), 0), SideOf(a, def, Var(0), 1)} {}

Expr RoiAlignPoints::Along(int d, const Expr& point) const {
  const Side& side = sides_[d];
  const auto number = [&](const Expr& index) { return Cast(index, dtype_); };
  return side.start + number(Var(2 + d)) * side.part +
         (number(point) + Constant(0.5, dtype_)) * side.part /
             number(side.points);
}

Point RoiAlignPoints::At(const std::vector<Expr>& r) const {
  return {Along(0, r[0]), Along(1, r[1])};
}

namespace {

void RoiAlignMeaning(const RoiAlignAttrs& a, Definition& def) {
  const std::vector<Expr> i = def.Indices();
  const RoiAlignPoints points(a, def);
  Expr channel = i[1];
  if (a.position_sensitive) {
    channel = (i[1] * a.pooled_size[0] + i[2]) * a.pooled_size[1] + i[3];
  }
  def.Set(0, AverageOfPoints(
                 def, RoiImage(def, i[0]), channel,
                 {points.rows(), points.columns()},
                 [&](const std::vector<Expr>& r) { return points.At(r); }));
}

}  // namespace

MXC_OP(ROIAlign) {
  return Op<RoiAlignAttrs>("_contrib_ROIAlign")
      .Doc("the averages of the parts of regions of interest")
      .Inputs({{"data"}, {"rois"}})
      .Check(RoiAlignCheck)
      .Types(RoiAlignTypes)
      .FloatsOnly()
      .Meaning(RoiAlignMeaning)
      .Gradient([](const auto&, GradientBuilder& g) {
        return MeaningGradientOfData(g);
      });
}

}  // namespace mxc
