// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/indexing/gathering.h"

#include "ir/ops/tensor/indexing/scatter_add.h"

namespace mxc {

Expr LegalIndex(const Expr& value, int64_t extent, IndexMode mode) {
  const Expr index = Cast(value, DType::kI64);
  if (mode == IndexMode::kWrap) return index % extent;
  return Max(Min(index, extent - 1), 0);
}

Value ScatterAdd(GradientBuilder& g, Value values, Value positions,
                 const Shape& shape, int axis, IndexMode mode) {
  return g.Op<op::ScatterAdd>(
      {values, positions},
      {.axis = axis,
       .extent = shape[axis],
       .mode = mode == IndexMode::kWrap ? IndexMode::kWrap : IndexMode::kClip});
}

}  // namespace mxc
