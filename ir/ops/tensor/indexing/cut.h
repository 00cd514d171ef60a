// SPDX-License-Identifier: Apache-2.0
// States the attributes of _cut.
#pragma once

#include <cstdint>

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

struct CutAttrs {
  int64_t axis = 0;
  double neutral = 0;
  // Of sequences side by side or behind each other: which entry an index is of.
  int64_t inner = 1;
  int64_t length = 0;  // 0: the axis is one sequence

  void Describe(Fields& f) {
    f("axis", axis).Min(0).Doc("the axis that is cut");
    f("inner", inner).Min(1).Doc("indices that are of one entry");
    f("length", length).Min(0).Doc("of a sequence; 0: the axis is one");
    f("neutral", neutral).Doc("what stands behind the count");
  }
};
MXC_ATTRS(Cut, CutAttrs);

}  // namespace mxc
