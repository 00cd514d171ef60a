// SPDX-License-Identifier: Apache-2.0
// States the attributes of Pad.
#pragma once

#include <cstdint>

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

enum class PadMode : int { kConstant, kEdge, kReflect };

struct PadAttrs {
  PadMode mode = PadMode::kConstant;
  Extents pad_width = {};
  double constant_value = 0;

  void Describe(Fields& f) {
    f("mode", mode)
        .Required()
        .OneOf({"constant", "edge", "reflect"})
        .Doc("what the border holds");
    f("pad_width", pad_width)
        .Required()
        .Range(0, int64_t{1} << 40)
        .Doc("before and after each axis, (b0, a0, b1, a1, …)");
    f("constant_value", constant_value).Doc("the border of mode constant");
  }
};
MXC_ATTRS(Pad, PadAttrs);

}  // namespace mxc
