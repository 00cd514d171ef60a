// SPDX-License-Identifier: Apache-2.0
// States the attributes of take.
#pragma once

#include <cstdint>

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"
#include "ir/ops/tensor/indexing/gathering.h"

namespace mxc {

struct TakeAttrs {
  int64_t axis = 0;
  IndexMode mode = IndexMode::kClip;

  void Describe(Fields& f) {
    f("axis", axis).Doc("the axis of a");
    f("mode", mode)
        .OneOf({"raise", "wrap", "clip"})
        .Doc("what becomes of an index out of range");
  }
};
MXC_ATTRS(Take, TakeAttrs);

}  // namespace mxc
