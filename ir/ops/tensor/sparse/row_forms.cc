// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/sparse/row_forms.h"

#include <algorithm>
#include <vector>

#include "ir/ops/tensor/control/map.h"
#include "ir/program/expr.h"

namespace mxc {
namespace {

// The index at which a tensor of that shape is read for the last axes of an
// output; axes of extent 1 are repeated.
std::vector<Expr> BroadcastIndex(const Shape& shape, int rank) {
  std::vector<Expr> index;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const int own = axis + rank - shape.rank();
    index.push_back(shape[axis] == 1 ? Expr(0) : Var(own));
  }
  return index;
}

// rows[p, …] · factor[numbers[p], …], of the product's other axes.
RowForm Multiplied(const RowForm& form, Value factor, const Shape& product,
                   GraphBuilder& b) {
  const Value operands[] = {form.rows, factor, form.numbers};
  const int rank = product.rank();
  Extents dims = product.dims();
  dims[0] = form.rows.shape()[0];
  std::vector<Expr> own = BroadcastIndex(form.rows.shape(), rank);
  own[0] = Var(0);
  std::vector<Expr> at = BroadcastIndex(factor.shape(), rank);
  if (factor.shape().rank() == rank && factor.shape()[0] > 1) {
    const Expr number = Load(2, form.numbers.type().dtype, {Var(0)});
    at[0] = Max(Min(Cast(number, DType::kI64), factor.shape()[0] - 1), 0);
  }
  const DType dtype = form.rows.type().dtype;
  const DType computing = AccumulateType(dtype);
  const MapOutput output = {{dtype, Shape(dims)},
                            Cast(Load(0, dtype, own), computing) *
                                Cast(Load(1, dtype, at), computing)};
  return {form.numbers, MapOf(b, operands, {&output, 1}, "rows")[0]};
}

bool AttributesAgree(const Node& a, const Node& b) {
  const auto first = a.op->print(a.attrs.get());
  return first == b.op->print(b.attrs.get());
}

// True if two nodes compute them in the same way of the same values.
bool AreEqualNumbers(Value a, Value b) {
  if (a == b) return true;
  const bool alike = a.node->op != nullptr && a.node->op == b.node->op &&
                     a.index == b.index && a.node->inputs == b.node->inputs;
  return alike && AttributesAgree(*a.node, *b.node);
}

}  // namespace

Value RowNumbers(GraphBuilder& b, Value data, int64_t rows) {
  const Shape flat = {data.shape().elements()};
  const Value given = b.Reshape(data, flat);
  const Expr number =
      Cast(Load(0, data.type().dtype, std::vector<Expr>{Var(0)}), DType::kI64);
  const MapOutput output = {{RowNumberType(rows), flat},
                            Max(Min(number, rows - 1), 0)};
  return MapOf(b, {&given, 1}, {&output, 1}, "numbers")[0];
}

RowForm RowsOfSum(std::span<const RowForm> inputs, GraphBuilder& b) {
  std::vector<Value> numbers, rows;
  for (const RowForm& input : inputs) {
    if (!input) return {};
    const auto known = std::ranges::find_if(numbers, [&](Value other) {
      return AreEqualNumbers(other, input.numbers);
    });
    if (known != numbers.end()) {
      Value& sum = rows[static_cast<size_t>(known - numbers.begin())];
      sum = b.Add(sum, input.rows);
      continue;
    }
    numbers.push_back(input.numbers);
    rows.push_back(input.rows);
  }
  return {b.Concat(numbers, 0, "numbers"), b.Concat(rows, 0, "rows")};
}

RowForm RowsOfProduct(const Node& node, std::span<const RowForm> inputs,
                      GraphBuilder& b) {
  const Shape& product = node.types[0].shape;
  for (const size_t i : {0u, 1u}) {
    const Shape& shape = node.inputs[i].shape();
    // A tensor that is repeated along the rows has no few of them.
    const bool fits = shape.rank() == product.rank() && shape[0] == product[0];
    if (!inputs[i] || !fits) continue;
    return Multiplied(inputs[i], node.inputs[1 - i], product, b);
  }
  return {};
}

}  // namespace mxc
