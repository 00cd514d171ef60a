// SPDX-License-Identifier: Apache-2.0
// States the attributes of slice_axis.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

struct SliceAxisAttrs {
  int64_t axis = 0;
  int64_t begin = 0;
  std::optional<int64_t> end = {};

  void Describe(Fields& f) {
    f("axis", axis).Required().Doc("the axis that is sliced");
    f("begin", begin).Required().Doc("the first index");
    f("end", end).Required().Doc("the index to stop before; None: the extent");
  }

  int64_t Begin(int64_t extent) const {
    return begin < 0 ? begin + extent : begin;
  }
  int64_t End(int64_t extent) const {
    if (!end) return extent;
    return *end < 0 ? *end + extent : *end;
  }
};
MXC_ATTRS(SliceAxis, SliceAxisAttrs);

}  // namespace mxc
