// SPDX-License-Identifier: Apache-2.0
// _split_v2, and the operators of mx.np that are this along an axis of theirs.
// C1 … C5  see split_v2.cc
#pragma once

#include <string>

#include "ir/ops/op.h"
#include "ir/ops/tensor/shape/axes.h"

namespace mxc {

struct SplitV2Attrs {
  Extents indices;
  int64_t axis = 1;
  bool squeeze_axis = false;
  int64_t sections = 0;

  void Describe(Fields& f) {
    f("indices", indices).Required().Min(0).Doc("where each part begins");
    f("axis", axis).Doc("the axis that is cut");
    f("squeeze_axis", squeeze_axis).Doc("drop the axis, of extent 1 then");
    f("sections", sections)
        .Range(0, kMaxOperands)
        .Doc("the number of equal parts; 0: cut at indices");
  }

  int64_t parts() const {
    return sections > 0 ? sections : static_cast<int64_t>(indices.size());
  }
  // Where part i of an axis begins; the extent for i = parts().
  int64_t Begin(int64_t i, int64_t extent) const {
    if (sections > 0) return i * (extent / sections);
    return i < parts() ? indices[i] : extent;
  }
};

// The axis of data of that rank, from what the attribute says; see RequireAxis.
using SplitAxis = int64_t (*)(int64_t stated, int rank);
Op<SplitV2Attrs> SplitOperator(std::string name, std::string doc,
                               SplitAxis axis_of);
// C5, and C6 of operators whose axis is that one.
std::optional<std::string> CheckSplitAlong(int64_t axis,
                                           const SplitV2Attrs& attrs);

}  // namespace mxc
