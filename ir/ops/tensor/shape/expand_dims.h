// SPDX-License-Identifier: Apache-2.0
// States the attributes of expand_dims.
#pragma once

#include <cstdint>

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

struct ExpandDimsAttrs {
  int64_t axis = 0;

  void Describe(Fields& f) {
    f("axis", axis).Required().Doc("position of the new axis in the output");
  }
};
MXC_ATTRS(ExpandDims, ExpandDimsAttrs);

}  // namespace mxc
