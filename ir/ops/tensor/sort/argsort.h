// SPDX-License-Identifier: Apache-2.0
// States the attributes of argsort.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"
#include "ir/ops/tensor/sort/sorting.h"

namespace mxc {

struct ArgsortAttrs {
  std::optional<int64_t> axis = -1;
  bool is_ascend = true;
  DType dtype = DType::kF32;

  void Describe(Fields& f) {
    f("axis", axis).Doc("the axis that is sorted; None: the flattened data");
    f("is_ascend", is_ascend).Doc("the least element first");
    f("dtype", dtype).Doc("element type of the indices");
  }

  SortRequest request() const { return {axis, is_ascend, 0}; }
};
MXC_ATTRS(Argsort, ArgsortAttrs);

}  // namespace mxc
