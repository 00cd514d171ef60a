// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ir/ops/numpy/np_composition.h"
#include "ir/ops/numpy/shape/np_diagonal.h"
#include "ir/ops/tensor/shape/axes.h"
#include "ir/ops/tensor/shape/diag.h"

namespace mxc {

void NpDiagonalAttrs::Describe(Fields& f) {
  f("offset", offset).Range(-1e9, 1e9).Doc("positive: above the main one");
  f("axis1", axis1).Doc("the axis of the rows");
  f("axis2", axis2).Doc("the axis of the columns");
}

void NpDiagonalShape(const NpDiagonalAttrs& a, TypeInference& t, bool kept) {
  t.AllSameDType();
  if (!t.In(0).known()) return;
  const Shape& in = t.In(0);
  const auto rows = RequireAxis(t, "C1", "axis1", a.axis1, in.rank());
  const auto columns = RequireAxis(t, "C1", "axis2", a.axis2, in.rank());
  if (!rows || !columns ||
      !t.Require(*rows != *columns, "C1: axis1 and axis2 are both {}", *rows)) {
    return;
  }
  const int64_t length =
      std::min(in[*rows] - std::max<int64_t>(-a.offset, 0),
               in[*columns] - std::max<int64_t>(a.offset, 0));
  if (!t.Require(length > 0, "C2: {} has no diagonal {}", ToString(in),
                 a.offset)) {
    return;
  }
  Extents dims;
  for (int axis = 0; axis < in.rank(); ++axis) {
    if (axis != *rows && axis != *columns) dims.push_back(in[axis]);
  }
  if (kept) dims.push_back(length);
  t.SetOut(0, Shape(dims));
}

Value NpDiagonalOf(const NpDiagonalAttrs& a, GraphBuilder& b, Value x) {
  return b.Op<op::Diag>({x},
                        {.k = a.offset, .axis1 = a.axis1, .axis2 = a.axis2});
}

}  // namespace mxc
