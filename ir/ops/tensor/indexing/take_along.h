// SPDX-License-Identifier: Apache-2.0
// States the attributes of _take_along.
#pragma once

#include <cstdint>

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

struct TakeAlongAttrs {
  int64_t axis = -1;

  void Describe(Fields& f) { f("axis", axis).Doc("the axis of data"); }
};
MXC_ATTRS(TakeAlong, TakeAlongAttrs);

}  // namespace mxc
