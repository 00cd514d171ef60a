// SPDX-License-Identifier: Apache-2.0
// States the attributes of _grid_sample.
#pragma once

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

enum class GridMode : int { kLinear, kNearest, kCubic };

enum class GridPadding : int { kZeros, kBorder, kReflection };

struct GridSampleAttrs {
  GridMode mode = GridMode::kLinear;
  GridPadding padding = GridPadding::kZeros;
  bool align_corners = false;

  void Describe(Fields& f) {
    f("mode", mode)
        .OneOf({"linear", "nearest", "cubic"})
        .Doc("how points between cells are read");
    f("padding", padding)
        .OneOf({"zeros", "border", "reflection"})
        .Doc("what lies outside");
    f("align_corners", align_corners)
        .Doc("whether -1 and 1 are centres of cells");
  }
};
MXC_ATTRS(GridSample, GridSampleAttrs);

}  // namespace mxc
