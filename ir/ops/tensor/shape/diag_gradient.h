// SPDX-License-Identifier: Apache-2.0
// States the attributes of _diag_gradient.
#pragma once

#include <cstdint>

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

struct DiagGradientAttrs {
  Extents shape = {};
  int64_t k = 0;
  int64_t axis1 = 0, axis2 = 1;

  void Describe(Fields& f) {
    f("shape", shape).Required().Min(1).Doc("shape of the output");
    f("k", k).Range(-1e9, 1e9).Doc("the diagonal; positive: above the main");
    f("axis1", axis1).Doc("the axis of the rows");
    f("axis2", axis2).Doc("the axis of the columns");
  }
};
MXC_ATTRS(DiagGradient, DiagGradientAttrs);

}  // namespace mxc
