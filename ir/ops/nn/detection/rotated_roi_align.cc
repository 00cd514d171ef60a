// SPDX-License-Identifier: Apache-2.0
// _contrib_RROIAlign: the averages of h × w parts of each rotated region of
// interest, each taken at sampling_ratio² points, interpolated.
//   data    f[N, C, H, W]
//   rois    f[R, 6]          image, centre x, centre y, width, height, degrees
//   output  f[R, C, h, w]
// Points outside −1 … H count as 0, those less far outside are on the border.
// sampling_ratio ≤ 0 means ⌈region / parts⌉. Regions are at least one cell wide
// and high.
// C1  data has 4 axes and rois 6 columns
// C2  pooled_size is (h, w), positive, at most 2^20
// Source: MXNet 1.9.1 operator/contrib/rroi_align.cc.
#include <numbers>

#include "ir/ops/nn/detection/roi.h"
#include "ir/ops/nn/meaning_gradient.h"

namespace mxc {
namespace {

struct RotatedRoiAlignAttrs {
  Extents pooled_size;
  double spatial_scale = 1;
  int64_t sampling_ratio = -1;

  void Describe(Fields& f) {
    f("pooled_size", pooled_size).Required().Doc("(h, w)");
    DescribeSpatialScale(f, spatial_scale);
    f("sampling_ratio", sampling_ratio)
        .Range(-1048576, 1023)
        .Doc("points along a side of a part");
  }
};

std::optional<std::string> RotatedRoiAlignCheck(const RotatedRoiAlignAttrs& a) {
  return PooledSizeCheck(a.pooled_size);
}

void RotatedRoiAlignTypes(const RotatedRoiAlignAttrs& a, TypeInference& t) {
  t.AllSameDType();
  const Shape &data = t.In(0), &rois = t.In(1);
  if (!data.known() || !rois.known() ||
      !t.Require(data.rank() == 4, "C1: data has shape {}, expected 4 axes",
                 ToString(data)) ||
      !t.Require(rois.rank() == 2 && rois[1] == 6,
                 "C1: rois has shape {}, expected (R, 6)", ToString(rois))) {
    return;
  }
  t.SetOut(0, {rois[0], data[1], a.pooled_size[0], a.pooled_size[1]});
}

// One side of a region in its own axes, whose origin is its centre: 0 is down,
// 1 to the right.
struct RotatedSide {
  Expr length, part;
  Expr points;  // i64
};

RotatedSide RotatedSideOf(const RotatedRoiAlignAttrs& a, const Definition& def,
                          const Expr& roi, int d) {
  RotatedSide side;
  side.length = Max(RoiCoordinate(def, roi, 4 - d) * def.Lit(a.spatial_scale),
                    def.Lit(1));
  const double parts = static_cast<double>(a.pooled_size[d]);
  side.part = side.length / def.Lit(parts);
  side.points = PointsAlong(side.part, a.sampling_ratio);
  return side;
}

void RotatedRoiAlignMeaning(const RotatedRoiAlignAttrs& a, Definition& def) {
  const std::vector<Expr> i = def.Indices();
  const RotatedSide sides[] = {RotatedSideOf(a, def, i[0], 0),
                               RotatedSideOf(a, def, i[0], 1)};
  const Expr angle =
      RoiCoordinate(def, i[0], 5) * def.Lit(std::numbers::pi / 180);
  const Expr cosine = Unary(UnaryOp::kCos, angle);
  const Expr sine = Unary(UnaryOp::kSin, angle);
  const auto number = [&](Expr index) { return Cast(index, def.OutDType()); };
  const auto along = [&](int d, const Expr& point) {
    const RotatedSide& side = sides[d];
    return number(i[2 + d]) * side.part +
           (number(point) + def.Lit(0.5)) * side.part / number(side.points) -
           side.length / def.Lit(2);
  };
  const auto centre = [&](int column) {
    return RoiCoordinate(def, i[0], column) * def.Lit(a.spatial_scale);
  };
  def.Set(
      0, AverageOfPoints(
             def, RoiImage(def, i[0]), i[1], {sides[0].points, sides[1].points},
             [&](const std::vector<Expr>& r) {
               const Expr down = along(0, r[0]), right = along(1, r[1]);
               return Point{down * cosine - right * sine + centre(2),
                            right * cosine + down * sine + centre(1)};
             }));
}

}  // namespace

MXC_OP(RotatedRoiAlign) {
  return Op<RotatedRoiAlignAttrs>("_contrib_RROIAlign")
      .Doc("the averages of the parts of rotated regions of interest")
      .Inputs({{"data"}, {"rois"}})
      .Check(RotatedRoiAlignCheck)
      .Types(RotatedRoiAlignTypes)
      .FloatsOnly()
      .Meaning(RotatedRoiAlignMeaning)
      .Gradient([](const auto&, GradientBuilder& g) {
        return MeaningGradientOfData(g);
      });
}

}  // namespace mxc
