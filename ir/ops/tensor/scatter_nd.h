// SPDX-License-Identifier: Apache-2.0
// States the attributes of scatter_nd.
#pragma once

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

struct ScatterNdAttrs {
  Extents shape = {};

  void Describe(Fields& f) {
    f("shape", shape).Required().Min(1).Doc("the shape of the output");
  }
};
MXC_ATTRS(ScatterNd, ScatterNdAttrs);

}  // namespace mxc
