// SPDX-License-Identifier: Apache-2.0
// States the attributes of _gather_positions.
#pragma once

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

struct GatherPositionsAttrs {
  Extents shape = {};

  void Describe(Fields& f) {
    f("shape", shape).Required().Min(1).Doc("the axes that indices name");
  }
};
MXC_ATTRS(GatherPositions, GatherPositionsAttrs);

}  // namespace mxc
