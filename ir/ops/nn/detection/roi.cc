// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/nn/detection/roi.h"

#include <fmt/format.h>

#include "ir/ops/nn/spatial/bilinear.h"

namespace mxc {

void DescribeSpatialScale(Fields& f, double& scale) {
  f("spatial_scale", scale)
      .Required()
      .Range(0, 1)
      .Doc("from rois' coordinates to cells");
}

bool RoiTypes(TypeInference& t) {
  const Shape &data = t.In(0), &rois = t.In(1);
  t.SetInDType(1, t.InDType(0));
  t.SetOutDType(0, t.InDType(0));
  if (!data.known() || !rois.known()) return false;
  return t.Require(data.rank() == 4, "C1: data has {} axes, expected 4",
                   data.rank()) &&
         t.Require(rois.rank() == 2 && rois[1] == 5,
                   "C1: rois has shape {}, expected (R, 5)", ToString(rois));
}

std::optional<std::string> PooledSizeCheck(const Extents& size) {
  constexpr int64_t kMost = 1 << 20;
  const auto fits = [](int64_t parts) { return parts > 0 && parts <= kMost; };
  if (size.size() == 2 && fits(size[0]) && fits(size[1])) return std::nullopt;
  return fmt::format("C2: pooled_size is {}, expected (h, w) from 1 to {}",
                     ToString(size), kMost);
}

Expr RoiCoordinate(const Definition& def, Expr roi, int column) {
  return def.In(1, {roi, column});
}

Expr RoiImage(const Definition& def, Expr roi) {
  const Expr image = Cast(def.In(1, {roi, 0}), DType::kI64);
  return Max(Min(image, def.InShape(0)[0] - 1), 0);
}

Expr PointsAlong(const Expr& length, int64_t ratio) {
  // No region spans more points than this; a broken one must not hang.
  constexpr int64_t kMostPoints = 1 << 14;
  return ratio > 0 ? Expr(ratio) : CeilWithin(length, kMostPoints);
}

Expr AverageOfPoints(
    const Definition& def, const Expr& image, const Expr& channel,
    const Expr (&points)[2],
    const std::function<Point(const std::vector<Expr>& r)>& at) {
  const int64_t height = def.InShape(0)[2], width = def.InShape(0)[3];
  const auto is_within = [&](const Expr& x, int64_t extent) {
    return x >= def.Lit(-1) && x <= def.Lit(static_cast<double>(extent));
  };
  const auto onto = [&](const Expr& x, int64_t extent) {
    return Min(Max(x, def.Lit(0)), def.Lit(static_cast<double>(extent - 1)));
  };
  const Expr sum =
      Definition::Sum({points[0], points[1]}, [&](const std::vector<Expr>& r) {
        const Point point = at(r);
        const Expr value = BilinearWithBorder(
            onto(point.y, height), onto(point.x, width), height, width,
            [&](Expr y, Expr x) { return def.In(0, {image, channel, y, x}); });
        return Select(is_within(point.y, height) && is_within(point.x, width),
                      value, def.Lit(0));
      });
  return sum / Cast(Max(points[0] * points[1], 1), def.OutDType());
}

Expr RoundAway(Expr x) { return Unary(UnaryOp::kRound, x); }

namespace {

Expr Within(Expr x, int64_t extent) {
  return Max(Min(Cast(x, DType::kI64), extent), 0);
}

}  // namespace

Expr FloorWithin(Expr x, int64_t extent) {
  return Within(Unary(UnaryOp::kFloor, x), extent);
}
Expr CeilWithin(Expr x, int64_t extent) {
  return Within(Unary(UnaryOp::kCeil, x), extent);
}

}  // namespace mxc
