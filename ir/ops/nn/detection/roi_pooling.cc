// SPDX-License-Identifier: Apache-2.0
// ROIPooling: the maxima of h × w parts of each region of interest.
//   data    f[N, C, H, W]
//   rois    f[R, 5]          image, x1, y1, x2, y2; scaled and rounded
//   output  f[R, C, h, w]    0 for a part without cells
//   maxidx  f[R, C, h, w]    the row-major number in the image of the first cell
//                            that holds the maximum, −1 without cells; hidden
// The gradient of data: _roi_pooling_gradient; rois have none.
// C1  data has 4 axes and rois 5 columns
// C2  pooled_size is (h, w), positive, at most 2^20
// Source: MXNet 1.9.1 operator/roi_pooling.cc.
#include "ir/ops/nn/detection/roi_pooling.h"

#include "ir/ops/nn/detection/roi.h"
#include "ir/ops/nn/detection/roi_pooling_gradient.h"

namespace mxc {
namespace {

std::optional<std::string> RoiPoolingCheck(const RoiPoolingAttrs& a) {
  return PooledSizeCheck(a.pooled_size);
}

void RoiPoolingTypes(const RoiPoolingAttrs& a, TypeInference& t) {
  t.SetOutDType(1, t.InDType(0));
  if (!RoiTypes(t)) return;
  const Shape output = {t.In(1)[0], t.In(0)[1], a.pooled_size[0],
                        a.pooled_size[1]};
  t.SetOut(0, output);
  t.SetOut(1, output);
}

void RoiPoolingMeaning(const RoiPoolingAttrs& a, Definition& def) {
  const std::vector<Expr> i = def.Indices();
  const int64_t height = def.InShape(0)[2], width = def.InShape(0)[3];
  const DType type = def.OutDType(1);
  const Expr scale = def.Lit(a.spatial_scale);
  std::vector<Expr> begin, end;
  for (int d = 0; d < 2; ++d) {  // rows, columns
    const auto corner = [&](int column) {
      return RoundAway(RoiCoordinate(def, i[0], column) * scale);
    };
    const Expr start = corner(2 - d), stop = corner(4 - d);
    const int64_t extent = def.InShape(0)[2 + d];
    const Expr part = Max(stop - start + def.Lit(1), def.Lit(1)) /
                      def.Lit(static_cast<double>(a.pooled_size[d]));
    const auto edge = [&](Expr o) { return Cast(o, def.OutDType()) * part; };
    begin.push_back(
        FloorWithin(Unary(UnaryOp::kFloor, edge(i[2 + d])) + start, extent));
    end.push_back(
        CeilWithin(Unary(UnaryOp::kCeil, edge(i[2 + d] + 1)) + start, extent));
  }
  const Expr max = Definition::ReduceOver(
      ReduceOp::kMax, begin, end, [&](const std::vector<Expr>& at) {
        return def.In(0, {RoiImage(def, i[0]), i[1], at[0], at[1]});
      });
  const Expr cells = begin[0] < end[0] && begin[1] < end[1];
  def.Set(0, Select(cells, max, def.Lit(0)));
  const Expr first = Definition::ReduceOver(
      ReduceOp::kMin, begin, end, [&](const std::vector<Expr>& at) {
        const Expr x = def.In(0, {RoiImage(def, i[0]), i[1], at[0], at[1]});
        return Select(x == max, at[0] * width + at[1], height * width);
      });
  def.Set(1, Select(cells && first < height * width, Cast(first, type),
                    Constant(-1, type)));
}

std::vector<Value> RoiPoolingGradient(const RoiPoolingAttrs&,
                                      GradientBuilder& g) {
  return {g.Op<op::ROIPoolingGradient>({g.Head(), g.In(1), g.Out(1)},
                                       {.data_shape = g.In(0).shape().dims()},
                                       "data"),
          Value()};
}

}  // namespace

MXC_OP(ROIPooling) {
  return Op<RoiPoolingAttrs>("ROIPooling")
      .Doc("the maxima of the parts of regions of interest")
      .Alias({"_npx_roi_pooling"})
      .Inputs({{"data"}, {"rois"}})
      .Outputs({"output", "maxidx"}, 1)
      .Check(RoiPoolingCheck)
      .Types(RoiPoolingTypes)
      .FloatsOnly()
      .Meaning(RoiPoolingMeaning)
      .Gradient(RoiPoolingGradient);
}

}  // namespace mxc
