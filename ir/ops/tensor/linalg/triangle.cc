// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/linalg/triangle.h"

namespace mxc {

int64_t TriangleSize(int64_t rows) { return rows * (rows + 1) / 2; }

bool SameBatch(const Shape& a, const Shape& b) {
  const int rank = a.rank();
  return rank >= 2 && b.rank() == rank &&
         std::equal(a.dims().begin(), a.dims().end() - 2, b.dims().begin());
}

Value TriangleOnly(GraphBuilder& b, Value value, bool lower) {
  const TriangleAttrs side = {.lower = lower};
  const Value row = b.Op<op::LinalgExtracttrian>({value}, side);
  return b.Op<op::LinalgMaketrian>({row}, side);
}

}  // namespace mxc
