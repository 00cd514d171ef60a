// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/linalg/np_tensordot.h"

#include <algorithm>

#include "ir/ops/numpy/np_composition.h"
#include "ir/ops/tensor/shape/axes.h"

namespace mxc {
namespace {

Extents Resolved(const Extents& axes, int rank) {
  Extents found;
  for (const int64_t axis : axes) found.push_back(*ResolveAxis(axis, rank));
  return found;
}

// The axes that are not among `axes`, ascending.
Extents Others(const Extents& axes, int rank) {
  Extents others;
  for (int64_t axis = 0; axis < rank; ++axis) {
    if (std::ranges::count(axes, axis) == 0) others.push_back(axis);
  }
  return others;
}

Extents Joined(Extents first, const Extents& then) {
  first.insert(first.end(), then.begin(), then.end());
  return first;
}

}  // namespace

void TensordotShape(TypeInference& t, const Extents& a_axes,
                    const Extents& b_axes) {
  if (!t.In(0).known() || !t.In(1).known()) return;
  const Shape &a = t.In(0), &b = t.In(1);
  if (!t.Require(a_axes.size() == b_axes.size(),
                 "C1: {} axes of a and {} of b are summed", a_axes.size(),
                 b_axes.size()) ||
      !RequireAxes(t, "C1", a_axes, a.rank()) ||
      !RequireAxes(t, "C1", b_axes, b.rank())) {
    return;
  }
  const Extents of_a = Resolved(a_axes, a.rank());
  const Extents of_b = Resolved(b_axes, b.rank());
  for (size_t k = 0; k < of_a.size(); ++k) {
    const int one = static_cast<int>(of_a[k]),
              other = static_cast<int>(of_b[k]);
    if (!t.Require(a[one] == b[other],
                   "C2: axis {} of a has extent {}, axis {} of b {}", one,
                   a[one], other, b[other])) {
      return;
    }
  }
  Extents dims;
  for (const int64_t axis : Others(of_a, a.rank())) {
    dims.push_back(a[static_cast<int>(axis)]);
  }
  for (const int64_t axis : Others(of_b, b.rank())) {
    dims.push_back(b[static_cast<int>(axis)]);
  }
  t.SetOut(0, Shape(dims));
}

Value Tensordot(GraphBuilder& b, const Node& node, const Extents& a_axes,
                const Extents& b_axes) {
  const Value left = node.inputs[0], right = node.inputs[1];
  const int a_rank = left.shape().rank(), b_rank = right.shape().rank();
  const Extents of_a = Resolved(a_axes, a_rank);
  const Extents of_b = Resolved(b_axes, b_rank);
  return SummedProduct(b,
                       Transposed(b, left, Joined(Others(of_a, a_rank), of_a)),
                       Transposed(b, right, Joined(of_b, Others(of_b, b_rank))),
                       static_cast<int>(of_a.size()));
}

}  // namespace mxc
