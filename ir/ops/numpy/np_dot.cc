// SPDX-License-Identifier: Apache-2.0
// _np_dot: the sum over the last axis of a and the last but one of b, or the only
// one; with a number, its product with every element.
// C1  the summed extents agree
#include <algorithm>

#include "ir/ops/numpy/np_composition.h"
#include "ir/ops/tensor/axes.h"
#include "ir/ops/tensor/binary.h"

namespace mxc {
namespace {

int SummedAxis(const Shape& right) { return std::max(right.rank() - 2, 0); }

void NpDotTypes(const NoAttrs&, TypeInference& t) {
  t.AllSameDType();
  if (!t.In(0).known() || !t.In(1).known()) return;
  const Shape &left = t.In(0), &right = t.In(1);
  if (left.rank() == 0 || right.rank() == 0) return BroadcastShapes(t);
  const int axis = SummedAxis(right);
  if (!t.Require(left[left.rank() - 1] == right[axis],
                 "C1: a {} is summed over {} elements, b {} over {}",
                 ToString(left), left[left.rank() - 1], ToString(right),
                 right[axis])) {
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
