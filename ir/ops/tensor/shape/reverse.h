// SPDX-License-Identifier: Apache-2.0
// States the attributes of reverse.
#pragma once

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

struct ReverseAttrs {
  Extents axis = {};

  void Describe(Fields& f) {
    f("axis", axis).Required().Min(0).Doc("the axes to reverse");
  }
};
MXC_ATTRS(Reverse, ReverseAttrs);

}  // namespace mxc
