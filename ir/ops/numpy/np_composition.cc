// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/np_composition.h"

#include "ir/ops/tensor/shape/axes.h"
#include "ir/ops/tensor/shape/transpose.h"

namespace mxc {

Value Transposed(GraphBuilder& b, Value x, const Extents& order) {
  if (order == AllAxes(x.shape().rank())) return x;
  return b.Op<op::Transpose>({x}, {.axes = order});
}

Value Flattened(GraphBuilder& b, Value x) {
  return b.Reshape(x, Shape{x.shape().elements()});
}

Value SummedProduct(GraphBuilder& b, Value left, Value right, int count) {
  const Extents &l = left.shape().dims(), &r = right.shape().dims();
  Extents output(l.begin(), l.end() - count);
  const int64_t rows = Shape(output).elements();
  output.insert(output.end(), r.begin() + count, r.end());
  const int64_t summed = left.shape().elements() / rows;
  const int64_t columns = right.shape().elements() / summed;
  const Value product =
      b.Op<op::Dot>({b.Reshape(left, Shape{rows, summed}),
                     b.Reshape(right, Shape{summed, columns})});
  return b.Reshape(product, Shape(output));
}

void TrueDivisionTypes(const ScalarAttrs&, TypeInference& t) {
  t.AllSameShape();
  const DType given = t.InDType(0);
  if (given == DType::kUnknown) return;
  t.SetOutDType(0, IsFloat(given) ? given : DType::kF32);
}

Value TrueDividend(GraphBuilder& b, const Node& node) {
  return b.Cast(node.inputs[0], node.types[0].dtype);
}

}  // namespace mxc
