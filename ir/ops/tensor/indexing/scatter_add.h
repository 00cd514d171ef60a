// SPDX-License-Identifier: Apache-2.0
// States the attributes of _scatter_add.
#pragma once

#include <cstdint>

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"
#include "ir/ops/tensor/indexing/gathering.h"

namespace mxc {

struct ScatterAddAttrs {
  int64_t axis = 0;
  int64_t extent = 1;
  IndexMode mode = IndexMode::kClip;

  void Describe(Fields& f) {
    f("axis", axis).Doc("the axis of the positions");
    f("extent", extent).Required().Min(1).Doc("its extent in the output");
    f("mode", mode)
        .OneOf({"raise", "wrap", "clip"})
        .Doc("what becomes of a position out of range");
  }
};
MXC_ATTRS(ScatterAdd, ScatterAddAttrs);

}  // namespace mxc
