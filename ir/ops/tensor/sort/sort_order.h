// SPDX-License-Identifier: Apache-2.0
// States the attributes of _sort_order.
#pragma once

#include <cstdint>

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

struct SortOrderAttrs {
  int64_t axis = -1;
  int64_t k = 1;

  void Describe(Fields& f) {
    f("axis", axis).Doc("the axis of the permutations");
    f("k", k).Required().Min(1).Doc("how many places");
  }
};
MXC_ATTRS(SortOrder, SortOrderAttrs);

}  // namespace mxc
