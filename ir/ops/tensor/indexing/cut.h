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

  void Describe(Fields& f) {
    f("axis", axis).Min(0).Doc("the axis that is cut");
    f("neutral", neutral).Doc("what stands behind the count");
  }
};
MXC_ATTRS(Cut, CutAttrs);

}  // namespace mxc
