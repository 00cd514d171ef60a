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
// C2  pooled_size is (h, w), positive
// C3  position_sensitive: h·w divides the channels
// Source: MXNet 1.9.1 operator/contrib/roi_align.cc.
#include <fmt/format.h>

#include "ir/ops/nn/meaning_gradient.h"
#include "ir/ops/nn/roi.h"

namespace mxc {
namespace {

struct RoiAlignAttrs {
  Extents pooled_size;
  double spatial_scale = 1;
  int64_t sample_ratio = -1;
  bool position_sensitive = false;
  bool aligned = false;

  void Describe(Fields& f) {
    f("pooled_size", pooled_size).Required().Doc("(h, w)");
    f("spatial_scale", spatial_scale)
        .Required()
        .Range(0, 1)
        .Doc("from rois' coordinates to cells");
    f("sample_ratio", sample_ratio).Doc("points along a side of a part");
    f("position_sensitive", position_sensitive)
        .Doc("whether each part reads channels of its own");
    f("aligned", aligned).Doc("whether regions shift by half a cell");
  }
};

std::optional<std::string> RoiAlignCheck(const RoiAlignAttrs& a) {
  if (a.pooled_size.size() == 2 && a.pooled_size[0] > 0 &&
      a.pooled_size[1] > 0 && a.sample_ratio < 1024) {
    return std::nullopt;
  }
  return fmt::format("C2: pooled_size is {}, expected (h, w) above 0",
                     ToString(a.pooled_size));
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

// One side of the region of output element i.
struct Side {
  Expr start, part;  // of the region; length of a part
  Expr points;       // i64
};

Side SideOf(const RoiAlignAttrs& a, const Definition& def, Expr roi, int d) {
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

void RoiAlignMeaning(const RoiAlignAttrs& a, Definition& def) {
  const std::vector<Expr> i = def.Indices();
  const Side sides[] = {SideOf(a, def, i[0], 0), SideOf(a, def, i[0], 1)};
  Expr channel = i[1];
  if (a.position_sensitive) {
    channel = (i[1] * a.pooled_size[0] + i[2]) * a.pooled_size[1] + i[3];
  }
  const auto number = [&](Expr index) { return Cast(index, def.OutDType()); };
  const auto along = [&](int d, const Expr& point) {
    const Side& side = sides[d];
    return side.start + number(i[2 + d]) * side.part +
           (number(point) + def.Lit(0.5)) * side.part / number(side.points);
  };
  def.Set(0, AverageOfPoints(def, RoiImage(def, i[0]), channel,
                             {sides[0].points, sides[1].points},
                             [&](const std::vector<Expr>& r) {
                               return Point{along(0, r[0]), along(1, r[1])};
                             }));
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
