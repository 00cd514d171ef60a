// SPDX-License-Identifier: Apache-2.0
// States the attributes of _np_reshape.
#pragma once

#include <string>

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

struct NpReshapeAttrs {
  Extents newshape = {};
  std::string order = "C";

  void Describe(Fields& f) {
    f("newshape", newshape).Required().Min(-1).Doc("extents of the output");
    f("order", order).OneOf({"C"}).Doc("row-major");
  }
};
MXC_ATTRS(NpReshape, NpReshapeAttrs);

}  // namespace mxc
