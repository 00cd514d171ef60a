// SPDX-License-Identifier: Apache-2.0
// States the attributes of _unravel_index.
#pragma once

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

struct UnravelAttrs {
  Extents shape = {};

  void Describe(Fields& f) {
    f("shape", shape)
        .Required()
        .Doc("the shape in which positions are counted");
  }
};
MXC_ATTRS(UnravelIndex, UnravelAttrs);

}  // namespace mxc
