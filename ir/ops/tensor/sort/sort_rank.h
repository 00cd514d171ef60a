// SPDX-License-Identifier: Apache-2.0
// States the attributes of _sort_rank.
#pragma once

#include <cstdint>

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

struct SortRankAttrs {
  int64_t axis = -1;
  bool is_ascend = true;

  void Describe(Fields& f) {
    f("axis", axis).Doc("the axis that is sorted");
    f("is_ascend", is_ascend).Doc("the least element first");
  }
};
MXC_ATTRS(SortRank, SortRankAttrs);

}  // namespace mxc
