// SPDX-License-Identifier: Apache-2.0
// _roi_max_align: of the points of each part of a region of interest, as in
// _contrib_ROIAlign, the greatest of what a cell contributes to one; our own
// operator, RoiAlign of ONNX in its mode max.
//   data, rois, output   as in _contrib_ROIAlign
//   maxidx  f[R, C, h, w]    the row-major number in the image of the first cell
//                            that contributes the greatest; −1: none; hidden
//   share   f[R, C, h, w]    what that cell's value is multiplied by; hidden
// Each of the four cells around a point counts by itself, times its share. What
// lies outside counts as 0; a part without points is 0.
// The gradient of data is that of ROIPooling; rois have none.
// C1, C2  as in _contrib_ROIAlign
// C3  position_sensitive is not set

#include "ir/ops/nn/detection/roi_align.h"
#include "ir/ops/nn/detection/roi_pooling_gradient.h"

namespace mxc {
namespace {

std::optional<std::string> RoiMaxAlignCheck(const RoiAlignAttrs& a) {
  if (a.position_sensitive) return "C3: position_sensitive is set";
  return RoiAlignCheck(a);
}

void RoiMaxAlignTypes(const RoiAlignAttrs& a, TypeInference& t) {
  for (int k = 1; k < 3; ++k) t.SetOutDType(k, t.InDType(0));
  RoiAlignTypes(a, t);
  for (int k = 1; k < 3; ++k) t.SetOut(k, t.Out(0));
}

// The contribution of a cell to a point.
struct Contribution {
  Expr number;  // row-major, in the image
  Expr share, value;
};

class RoiContributions {
 public:
  RoiContributions(const RoiAlignAttrs& a, const Definition& def)
      : def_(def),
        points_(a, def),
        extents_{def.InShape(0)[2], def.InShape(0)[3]} {}

  // The reduction over all contributions to a part of `term`, `outside` for
  // points that have none.
  Expr Reduce(ReduceOp op, const Expr& outside,
              const std::function<Expr(const Contribution&)>& term) const {
    const auto of_point = [&](const std::vector<Expr>& r) {
      const Corners corners = CornersOf(points_.At(r));
      Expr all;
      for (int corner = 0; corner < 4; ++corner) {
        const Expr one = term(ContributionOf(corners, corner));
        all = !all ? one : op == ReduceOp::kMax ? Max(all, one) : Min(all, one);
      }
      return Select(corners.inside, all, outside);
    };
    return Definition::ReduceOver(
        op, {0, 0}, {points_.rows(), points_.columns()}, of_point);
  }

  Expr any() const { return points_.rows() > 0 && points_.columns() > 0; }
  int64_t cells() const { return extents_[0] * extents_[1]; }

 private:
  // Around a point: rows, then columns.
  struct Corners {
    Expr inside;
    Expr low[2], share[2];
  };

  Corners CornersOf(const Point& point) const {
    Corners corners;
    corners.inside = Constant(1, DType::kBool);
    for (int d = 0; d < 2; ++d) {
      const Expr x = d == 0 ? point.y : point.x;
      const auto extent = static_cast<double>(extents_[d]);
      corners.inside =
          corners.inside && x >= def_.Lit(-1) && x <= def_.Lit(extent);
      const Expr at = Min(Max(x, def_.Lit(0)), def_.Lit(extent - 1));
      const Expr floor = Unary(UnaryOp::kFloor, at);
      corners.low[d] = Cast(floor, DType::kI64);
      corners.share[d] = at - floor;
    }
    return corners;
  }

  Contribution ContributionOf(const Corners& corners, int corner) const {
    const std::vector<Expr> i = def_.Indices();
    std::vector<Expr> cell = {RoiImage(def_, i[0]), i[1]};
    Contribution one;
    for (int d = 0; d < 2; ++d) {
      const bool next = (d == 0 ? corner / 2 : corner % 2) == 1;
      const Expr place = next ? corners.low[d] + 1 : corners.low[d];
      cell.push_back(Max(Min(place, extents_[d] - 1), 0));
      const Expr part =
          next ? corners.share[d] : def_.Lit(1) - corners.share[d];
      one.share = one.share ? one.share * part : part;
    }
    one.number = cell[2] * extents_[1] + cell[3];
    one.value = def_.In(0, cell) * one.share;
    return one;
  }

  const Definition& def_;
  const RoiAlignPoints points_;
  const int64_t extents_[2];
};

void RoiMaxAlignMeaning(const RoiAlignAttrs& a, Definition& def) {
  // Compilers may round a place otherwise in each of the reductions.
  constexpr double kSame = 1e-6;
  const RoiContributions all(a, def);
  const Expr best =
      all.Reduce(ReduceOp::kMax, def.Lit(0),
                 [](const Contribution& one) { return one.value; });
  def.Set(0, Select(all.any(), best, def.Lit(0)));
  const Expr least = best - Unary(UnaryOp::kAbs, best) * def.Lit(kSame);
  const Expr none = all.cells();
  const Expr first =
      all.Reduce(ReduceOp::kMin, none, [&](const Contribution& one) {
        return Select(one.value >= least, one.number, none);
      });
  const DType type = def.OutDType(1);
  def.Set(1, Select(all.any() && first < none, Cast(first, type),
                    Constant(-1, type)));
  const Expr share =
      all.Reduce(ReduceOp::kMax, def.Lit(0), [&](const Contribution& one) {
        return Select(one.value >= least && one.number == first, one.share,
                      def.Lit(0));
      });
  def.Set(2, Select(all.any(), share, def.Lit(0)));
}

std::vector<Value> RoiMaxAlignGradient(const RoiAlignAttrs&,
                                       GradientBuilder& g) {
  const Value head = g.Mul(g.Head(), g.Out(2));
  return {g.Op<op::ROIPoolingGradient>({head, g.In(1), g.Out(1)},
                                       {.data_shape = g.In(0).shape().dims()},
                                       "data"),
          Value()};
}

}  // namespace

MXC_OP(ROIMaxAlign) {
  return Op<RoiAlignAttrs>("_roi_max_align")
      .Doc("the greatest contributions to parts of regions of interest")
      .Inputs({{"data"}, {"rois"}})
      .Outputs({"output", "maxidx", "share"}, 1)
      .Check(RoiMaxAlignCheck)
      .Types(RoiMaxAlignTypes)
      .FloatsOnly()
      .Meaning(RoiMaxAlignMeaning)
      .Gradient(RoiMaxAlignGradient);
}

}  // namespace mxc
