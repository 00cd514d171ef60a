// SPDX-License-Identifier: Apache-2.0
// Pictures of which every pixel comes from another place.
#pragma once

#include "runtime/data/picture/picture.h"

namespace mxc::data {

// Columns count to the right, rows downwards; a whole number is the centre of a
// pixel, so that the corner of a picture is {-0.5, -0.5}.
struct Place {
  double x = 0, y = 0;
};
constexpr Place kCorner = {-0.5, -0.5};
Place CenterOf(const Picture& picture);

struct Matrix {
  double xx = 1, xy = 0, yx = 0, yy = 1;

  Matrix Inverse() const;
};

// The pixel at p comes from fixed + from · (p − fixed), bilinear between four;
// what lies outside has the value `fill`.
Picture Mapped(const Picture& in, const Matrix& from, Place fixed,
               uint8_t fill);

// Moved to the right and downwards.
Picture Shifted(const Picture& in, int right, int down, uint8_t fill);

}  // namespace mxc::data
