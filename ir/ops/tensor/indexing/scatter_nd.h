// SPDX-License-Identifier: Apache-2.0
// States the attributes of scatter_nd.
#pragma once

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

struct ScatterNdAttrs {
  Extents shape = {};

  void Describe(Fields& f) {
    f("shape", shape).Required().Min(1).Doc("the shape of the output");
  }
};
MXC_ATTRS(ScatterNd, ScatterNdAttrs);

// Returns whether the columns of `indices` name as many parts of `shape` as
// `data` has.
inline bool PartsFit(const Shape& data, const Shape& indices,
                     const Extents& shape) {
  if (indices.rank() < 1 || indices[0] > static_cast<int64_t>(shape.size())) {
    return false;
  }
  Extents expected(indices.dims().begin() + 1, indices.dims().end());
  expected.insert(expected.end(), shape.begin() + indices[0], shape.end());
  return data == Shape(expected);
}

}  // namespace mxc
