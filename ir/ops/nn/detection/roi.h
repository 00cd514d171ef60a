// SPDX-License-Identifier: Apache-2.0
// What the operators that read regions of interest share.
//   data  f[N, C, H, W]
//   rois  f[R, 5]         image, x1, y1, x2, y2
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ir/ops/op.h"

namespace mxc {

// The attribute spatial_scale.
void DescribeSpatialScale(Fields& f, double& scale);

// Requires these shapes, under the label "C1". False when a shape is not known
// yet, or is illegal.
bool RoiTypes(TypeInference& t);

// Refuses a size of parts that is not (h, w), positive and at most 2^20, under
// the label "C2".
std::optional<std::string> PooledSizeCheck(const Extents& size);

// Column `column` of region `roi`, 1 … 4: a coordinate.
Expr RoiCoordinate(const Definition& def, Expr roi, int column);
// The image of region `roi`, clipped to those that there are.
Expr RoiImage(const Definition& def, Expr roi);

// How many points stand along a part of that length: `ratio`, or, where that is
// not positive, ⌈length⌉. i64.
Expr PointsAlong(const Expr& length, int64_t ratio);
// The average of a channel of an image over `points` along y and x, interpolated;
// `at` says where point r is. Points outside −1 … H count as 0, those less far
// outside are on the border.
struct Point {
  Expr y, x;
};
Expr AverageOfPoints(
    const Definition& def, const Expr& image, const Expr& channel,
    const Expr (&points)[2],
    const std::function<Point(const std::vector<Expr>& r)>& at);

// Rounds half away from zero, as C's round does.
Expr RoundAway(Expr x);
// The integer below or above, clipped to 0 … extent.
Expr FloorWithin(Expr x, int64_t extent);
Expr CeilWithin(Expr x, int64_t extent);

}  // namespace mxc
