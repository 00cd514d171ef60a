// SPDX-License-Identifier: Apache-2.0
// States the attributes of topk.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"
#include "ir/ops/tensor/sort/sorting.h"

namespace mxc {

enum class TopkReturn : int { kValue, kIndices, kMask, kBoth };

struct TopkAttrs {
  std::optional<int64_t> axis = -1;
  int64_t k = 1;
  TopkReturn ret_typ = TopkReturn::kIndices;
  bool is_ascend = false;
  DType dtype = DType::kF32;

  void Describe(Fields& f) {
    f("axis", axis).Doc("the axis that is sorted; None: the flattened data");
    f("k", k).Doc("how many elements; below 1: all");
    f("ret_typ", ret_typ)
        .OneOf({"value", "indices", "mask", "both"})
        .Doc("what is returned");
    f("is_ascend", is_ascend).Doc("the least elements, else the greatest");
    f("dtype", dtype).Doc("element type of the indices");
  }

  SortRequest request() const {
    return {axis, is_ascend, std::max<int64_t>(k, 0)};
  }
  // Values come with indices, which are hidden unless both are asked for.
  bool has_values() const {
    return ret_typ == TopkReturn::kValue || ret_typ == TopkReturn::kBoth;
  }
};
MXC_ATTRS(Topk, TopkAttrs);

}  // namespace mxc
