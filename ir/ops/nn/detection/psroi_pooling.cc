// SPDX-License-Identifier: Apache-2.0
// _contrib_PSROIPooling: the averages of p × p parts of each region of
// interest, each part reading channels of its own.
//   data    f[N, output_dim · g², H, W]   g = group_size, or p where it is 0
//   rois    f[R, 5]                       image, x1, y1, x2, y2; rounded,
//   scaled output  f[R, output_dim, p, p]        0 for a part without cells
// C1  data has 4 axes and rois 5 columns
// C2  data has output_dim · g² channels
// Source: MXNet 1.9.1 operator/contrib/psroi_pooling.cc.
#include "ir/ops/nn/detection/roi.h"
#include "ir/ops/nn/meaning_gradient.h"

namespace mxc {
namespace {

struct PsRoiPoolingAttrs {
  double spatial_scale = 1;
  int64_t output_dim = 0;
  int64_t pooled_size = 0;
  int64_t group_size = 0;

  void Describe(Fields& f) {
    DescribeSpatialScale(f, spatial_scale);
    f("output_dim", output_dim)
        .Required()
        .Range(1, 1 << 24)
        .Doc("output channels");
    f("pooled_size", pooled_size)
        .Required()
        .Range(1, 1 << 12)
        .Doc("parts along a side");
    f("group_size", group_size)
        .Range(0, 1 << 12)
        .Doc("groups of channels along a side; pooled_size where 0");
  }
  int64_t groups() const { return group_size == 0 ? pooled_size : group_size; }
};

void PsRoiPoolingTypes(const PsRoiPoolingAttrs& a, TypeInference& t) {
  if (!RoiTypes(t)) return;
  const int64_t channels = a.output_dim * a.groups() * a.groups();
  if (!t.Require(t.In(0)[1] == channels,
                 "C2: data has {} channels, expected {}", t.In(0)[1],
                 channels)) {
    return;
  }
  t.SetOut(0, {t.In(1)[0], a.output_dim, a.pooled_size, a.pooled_size});
}

void PsRoiPoolingMeaning(const PsRoiPoolingAttrs& a, Definition& def) {
  const std::vector<Expr> i = def.Indices();
  const Expr scale = def.Lit(a.spatial_scale);
  std::vector<Expr> begin, end;
  for (int d = 0; d < 2; ++d) {  // rows, columns
    const Expr start = RoundAway(RoiCoordinate(def, i[0], 2 - d)) * scale;
    const Expr stop =
        (RoundAway(RoiCoordinate(def, i[0], 4 - d)) + def.Lit(1)) * scale;
    const Expr part = Max(stop - start, def.Lit(0.1)) /
                      def.Lit(static_cast<double>(a.pooled_size));
    const auto edge = [&](Expr o) {
      return Cast(o, def.OutDType()) * part + start;
    };
    const int64_t extent = def.InShape(0)[2 + d];
    begin.push_back(FloorWithin(edge(i[2 + d]), extent));
    end.push_back(CeilWithin(edge(i[2 + d] + 1), extent));
  }
  const auto group = [&](int axis) {
    return i[axis] * a.groups() / a.pooled_size;
  };
  const Expr channel = (i[1] * a.groups() + group(2)) * a.groups() + group(3);
  const Expr sum = Definition::ReduceOver(
      ReduceOp::kSum, begin, end, [&](const std::vector<Expr>& at) {
        return def.In(0, {RoiImage(def, i[0]), channel, at[0], at[1]});
      });
  const Expr cells = Max(end[0] - begin[0], 0) * Max(end[1] - begin[1], 0);
  def.Set(0, sum / Cast(Max(cells, 1), def.OutDType()));
}

}  // namespace

MXC_OP(PSROIPooling) {
  return Op<PsRoiPoolingAttrs>("_contrib_PSROIPooling")
      .Doc("position-sensitive averages of regions of interest")
      .Inputs({{"data"}, {"rois"}})
      .Types(PsRoiPoolingTypes)
      .FloatsOnly()
      .Meaning(PsRoiPoolingMeaning)
      .Gradient([](const auto&, GradientBuilder& g) {
        return MeaningGradientOfData(g);
      });
}

}  // namespace mxc
