// SPDX-License-Identifier: Apache-2.0
// _roi_max_align: of the points of each part of a region of interest, as in
// _contrib_ROIAlign, the greatest of what a cell contributes to one; our own
// operator, RoiAlign of ONNX in its mode max.
//   data, rois, output   as in _contrib_ROIAlign
// Each of the four cells around a point counts by itself, times its share. What
// lies outside counts as 0; a part without points is 0.
// C1, C2  as in _contrib_ROIAlign
// C3  position_sensitive is not set

#include "ir/ops/nn/meaning_gradient.h"
#include "ir/ops/nn/roi_align.h"

namespace mxc {
namespace {

std::optional<std::string> RoiMaxAlignCheck(const RoiAlignAttrs& a) {
  if (a.position_sensitive) return "C3: position_sensitive is set";
  return RoiAlignCheck(a);
}

void RoiMaxAlignMeaning(const RoiAlignAttrs& a, Definition& def) {
  const std::vector<Expr> i = def.Indices();
  const Expr image = RoiImage(def, i[0]);
  const RoiAlignPoints points(a, def);
  const int64_t extents[] = {def.InShape(0)[2], def.InShape(0)[3]};
  const auto best_of_corners = [&](const Point& point) {
    Expr low[2], share[2];
    Expr inside = Constant(1, DType::kBool);
    for (int d = 0; d < 2; ++d) {
      const Expr x = d == 0 ? point.y : point.x;
      const auto extent = static_cast<double>(extents[d]);
      inside = inside && x >= def.Lit(-1) && x <= def.Lit(extent);
      const Expr at = Min(Max(x, def.Lit(0)), def.Lit(extent - 1));
      const Expr floor = Unary(UnaryOp::kFloor, at);
      low[d] = Cast(floor, DType::kI64);
      share[d] = at - floor;
    }
    Expr best;
    for (int corner = 0; corner < 4; ++corner) {
      std::vector<Expr> cell = {image, i[1]};
      Expr weight;
      for (int d = 0; d < 2; ++d) {
        const bool next = (d == 0 ? corner / 2 : corner % 2) == 1;
        const Expr place = next ? low[d] + 1 : low[d];
        cell.push_back(Max(Min(place, extents[d] - 1), 0));
        const Expr part = next ? share[d] : def.Lit(1) - share[d];
        weight = weight ? weight * part : part;
      }
      const Expr value = def.In(0, cell) * weight;
      best = best ? Max(best, value) : value;
    }
    return Select(inside, best, def.Lit(0));
  };
  const Expr best = Definition::MaxOf({points.rows(), points.columns()},
                                      [&](const std::vector<Expr>& r) {
                                        return best_of_corners(points.At(r));
                                      });
  const Expr any = points.rows() > 0 && points.columns() > 0;
  def.Set(0, Select(any, best, def.Lit(0)));
}

}  // namespace

MXC_OP(ROIMaxAlign) {
  return Op<RoiAlignAttrs>("_roi_max_align")
      .Doc("the greatest contributions to parts of regions of interest")
      .Inputs({{"data"}, {"rois"}})
      .Check(RoiMaxAlignCheck)
      .Types(RoiAlignTypes)
      .FloatsOnly()
      .Meaning(RoiMaxAlignMeaning)
      .Gradient([](const auto&, GradientBuilder& g) {
        return MeaningGradientOfData(g);
      });
}

}  // namespace mxc
