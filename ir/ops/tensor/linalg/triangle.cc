// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/linalg/triangle.h"

#include <cstdlib>

namespace mxc {

bool RequireDiagonal(const Shape& a, int64_t offset, TypeInference& t) {
  const int rank = a.rank();
  return t.Require(rank >= 2 && a[rank - 2] == a[rank - 1] &&
                       a[rank - 1] < (int64_t{1} << 30),
                   "C1: A has shape {}, expected square matrices",
                   ToString(a)) &&
         t.Require(std::abs(offset) < a[rank - 1],
                   "C2: there is no diagonal {} in matrices of {} x {}", offset,
                   a[rank - 1], a[rank - 1]);
}

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
