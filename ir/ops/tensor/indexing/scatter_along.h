// SPDX-License-Identifier: Apache-2.0
// States the attributes of _scatter_along.
#pragma once

#include <cstdint>

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

enum class ScatterMode : int { kWrite, kAdd, kMultiply, kMax, kMin };

struct ScatterAlongAttrs {
  int64_t axis = -1;
  ScatterMode mode = ScatterMode::kWrite;

  void Describe(Fields& f) {
    f("axis", axis).Doc("the axis of the positions");
    f("mode", mode)
        .OneOf({"write", "add", "multiply", "max", "min"})
        .Doc("what becomes of the element that is there");
  }
};
MXC_ATTRS(ScatterAlong, ScatterAlongAttrs);

}  // namespace mxc
