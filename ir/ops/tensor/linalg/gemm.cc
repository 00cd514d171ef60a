// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/linalg/gemm.h"

#include <algorithm>

#include "ir/ops/tensor/elementwise/scalar.h"
#include "ir/ops/tensor/linalg/products.h"
#include "ir/ops/tensor/shape/axes.h"
#include "ir/ops/tensor/shape/transpose.h"

namespace mxc {
namespace {

// The axes with `rows` moved to the last but one place.
Extents RowsBeforeColumns(int rows, int rank) {
  Extents order = AllAxes(rank);
  order.erase(order.begin() + rows);
  order.insert(order.end() - 1, rows);
  return order;
}

// The axes with the last but one moved to `rows`.
Extents RowsBack(int rows, int rank) {
  Extents order = AllAxes(rank);
  order.erase(order.end() - 2);
  order.insert(order.begin() + rows, rank - 2);
  return order;
}

Shape Permuted(const Shape& shape, const Extents& order) {
  Shape out = Shape::OfRank(shape.rank());
  for (int k = 0; k < shape.rank(); ++k) {
    out[k] = shape[static_cast<int>(order[k])];
  }
  return out;
}

Value Reordered(GraphBuilder& b, Value value, const Extents& order,
                std::string_view role) {
  if (std::ranges::is_sorted(order)) return value;
  return b.Op<op::Transpose>({value}, {.axes = order}, role);
}

}  // namespace

void GemmTypes(const GemmAttrs& attrs, TypeInference& t) {
  if (!t.In(0).known() || !t.In(1).known()) return;
  const int rank = t.In(0).rank();
  const auto rows = ResolveAxis(attrs.axis, rank);
  if (!t.Require(t.In(1).rank() == rank && rank >= 2,
                 "C1: shapes {} and {}, expected one rank, at least 2",
                 ToString(t.In(0)), ToString(t.In(1))) ||
      !t.Require(rows.has_value() && *rows != rank - 1,
                 "C4: axis {} is no axis of rows for rank {}", attrs.axis,
                 rank)) {
    return;
  }
  const Extents order = RowsBeforeColumns(*rows, rank);
  std::vector<TensorType> in = {{t.InDType(0), Permuted(t.In(0), order)},
                                {t.InDType(1), Permuted(t.In(1), order)}};
  std::vector<TensorType> out(1);
  TypeInference product(in, out, t.training());
  MatrixProductTypes(product, attrs.transpose_a, attrs.transpose_b, 2);
  if (!t.Require(!product.error(), "{}", product.error().value_or(""))) return;
  t.SetOut(0, Permuted(out[0].shape, RowsBack(*rows, rank)));
}

Value Scaled(GraphBuilder& b, Value value, double factor,
             std::string_view role) {
  if (factor == 1) return value;
  return b.Op<op::MulScalar>({value}, {.scalar = factor}, role);
}

Value GemmProduct(const GemmAttrs& attrs, const Node& node, GraphBuilder& b) {
  const int rank = node.types[0].shape.rank();
  const int rows = *ResolveAxis(attrs.axis, rank);
  const Extents order = RowsBeforeColumns(rows, rank);
  const Value left = Reordered(b, node.inputs[0], order, "A");
  const Value right = Reordered(b, node.inputs[1], order, "B");
  const Value product = ProductOf(b, left, right, attrs.transpose_a,
                                  attrs.transpose_b, "product");
  return Reordered(b, Scaled(b, product, attrs.alpha, "alpha"),
                   RowsBack(rows, rank), "rows");
}

std::vector<Value> GemmGradients(const GemmAttrs& attrs, GradientBuilder& g) {
  const int rank = g.Out().shape().rank();
  const int rows = *ResolveAxis(attrs.axis, rank);
  const Extents order = RowsBeforeColumns(rows, rank);
  const Value head =
      Scaled(g, Reordered(g, g.Head(), order, "head"), attrs.alpha, "alpha");
  std::vector<Value> gradients = ProductGradients(
      g, Reordered(g, g.In(0), order, "A"), Reordered(g, g.In(1), order, "B"),
      head, attrs.transpose_a, attrs.transpose_b);
  for (Value& gradient : gradients) {
    if (gradient)
      gradient = Reordered(g, gradient, RowsBack(rows, rank), "rows");
  }
  return gradients;
}

}  // namespace mxc
