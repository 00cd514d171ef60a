// SPDX-License-Identifier: Apache-2.0
// States the attributes of _pad_gradient.
#pragma once

#include <cstdint>

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

enum class PadBorderMode : int { kEdge, kReflect };

struct PadGradientAttrs {
  PadBorderMode mode = PadBorderMode::kEdge;
  Extents pad_width = {};

  void Describe(Fields& f) {
    f("mode", mode)
        .Required()
        .OneOf({"edge", "reflect"})
        .Doc("what the border holds");
    f("pad_width", pad_width)
        .Required()
        .Range(0, int64_t{1} << 40)
        .Doc("before and after each axis, (b0, a0, b1, a1, …)");
  }
  int64_t Before(int axis) const { return pad_width[2 * axis]; }
  int64_t After(int axis) const { return pad_width[2 * axis + 1]; }
};
MXC_ATTRS(PadGradient, PadGradientAttrs);

}  // namespace mxc
