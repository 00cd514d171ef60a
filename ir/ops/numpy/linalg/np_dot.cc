// SPDX-License-Identifier: Apache-2.0
// _np_dot: the sum over the last axis of a and the last but one of b, or the only
// one; with a number, its product with every element.
// C1  the summed extents agree
#include <algorithm>

#include "ir/ops/numpy/np_composition.h"
#include "ir/ops/tensor/elementwise/binary.h"
#include "ir/ops/tensor/shape/axes.h"

namespace mxc {
namespace {

int SummedAxis(const Shape& right) { return std::max(right.rank() - 2, 0); }

// The extent at `axis` is what is known of it on the other side.
void SolveExtent(TypeInference& t, int input, int axis, int64_t extent) {
  Extents dims = t.In(input).dims();
  if (dims[static_cast<size_t>(axis)] != Shape::kUnknownDim) return;
  dims[static_cast<size_t>(axis)] = extent;
  t.SetIn(input, Shape(dims));
}

void NpDotTypes(const NoAttrs&, TypeInference& t) {
  t.AllSameDType();
  if (!t.In(0).known_rank() || !t.In(1).known_rank()) return;
  if (t.In(0).rank() == 0 || t.In(1).rank() == 0) return BroadcastShapes(t);
  const int last = t.In(0).rank() - 1, axis = SummedAxis(t.In(1));
  SolveExtent(t, 0, last, t.In(1)[axis]);
  SolveExtent(t, 1, axis, t.In(0)[last]);
  const Shape &left = t.In(0), &right = t.In(1);
  if (!t.Require(left[last] == right[axis],
                 "C1: a {} is summed over {} elements, b {} over {}",
                 ToString(left), left[last], ToString(right), right[axis])) {
    return;
  }
  Extents dims(left.dims().begin(), left.dims().end() - 1);
  Extents others = right.dims();
  others.erase(others.begin() + axis);
  dims.insert(dims.end(), others.begin(), others.end());
  t.SetOut(0, Shape(dims));
}

std::vector<Value> NpDotParts(const NoAttrs&, const Node& node,
                              GraphBuilder& b) {
  const Value left = node.inputs[0];
  Value right = node.inputs[1];
  if (left.shape().rank() == 0 || right.shape().rank() == 0) {
    return {b.Mul(left, right)};
  }
  Extents order = AllAxes(right.shape().rank());
  std::rotate(order.begin(), order.begin() + SummedAxis(right.shape()),
              order.begin() + SummedAxis(right.shape()) + 1);
  return {SummedProduct(b, left, Transposed(b, right, order), 1)};
}

}  // namespace

MXC_OP(NpDot) {
  return Op<>("_np_dot")
      .Doc("numpy.dot")
      .Inputs({{"a", InputKind::kData}, {"b", InputKind::kData}})
      .Types(NpDotTypes)
      .Decompose(NpDotParts);
}

}  // namespace mxc
