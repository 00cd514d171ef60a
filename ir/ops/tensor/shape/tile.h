// SPDX-License-Identifier: Apache-2.0
// States the attributes of tile.
#pragma once

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

struct TileAttrs {
  Extents reps = {};

  void Describe(Fields& f) {
    f("reps", reps).Required().Doc("how often along each axis");
  }
};
MXC_ATTRS(Tile, TileAttrs);

}  // namespace mxc
