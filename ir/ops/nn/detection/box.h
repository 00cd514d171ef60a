// SPDX-License-Identifier: Apache-2.0
// Boxes: four numbers along the last axis, x1, y1, x2, y2 (corner) or centre
// x, centre y, width, height (center).
#pragma once

#include <functional>

#include "ir/program/expr.h"

namespace mxc {

enum class BoxFormat : int { kCorner, kCenter };

// One side of a box: along x (0) or y (1).
struct BoxSide {
  Expr low, high;

  Expr length() const { return high - low; }
  Expr centre() const;
};

// `number(k)` is the k-th number of the box.
BoxSide BoxSideOf(BoxFormat format, int d,
                  const std::function<Expr(int k)>& number);

}  // namespace mxc
