// SPDX-License-Identifier: Apache-2.0
// States the attributes of _pivot.
#pragma once

#include <cstdint>

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

struct PivotAttrs {
  int64_t row = 0;

  void Describe(Fields& f) {
    f("row", row).Required().Min(0).Doc("where the search begins");
  }
};
MXC_ATTRS(Pivot, PivotAttrs);

}  // namespace mxc
