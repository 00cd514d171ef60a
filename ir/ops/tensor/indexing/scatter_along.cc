// SPDX-License-Identifier: Apache-2.0
// _scatter_along: data, into which values are written, or with which they are
// combined, at positions along an axis; our own operator, the inverse of
// _take_along.
//   data       t[A…, n, B…]
//   positions  i[A…, m, B…], or i[m] for all rows alike
//   values     t[A…, m, B…]
//   output     as data
//   for j = 0 … m - 1: output[a, positions[a, j, b], b] ⊕= values[a, j, b]
// In that order: the last one that is written stays. A position outside 0 … n - 1
// names no place. max and min keep NaN.
// C1  axis is in range
// C2  values agree with data in every other axis, positions with values
#include "ir/ops/tensor/indexing/scatter_along.h"

#include "ir/ops/op.h"
#include "ir/ops/tensor/create/arange.h"
#include "ir/ops/tensor/elementwise/scalar.h"
#include "ir/ops/tensor/indexing/take_along.h"
#include "ir/ops/tensor/shape/axes.h"
#include "ir/program/procedure_builder.h"

namespace mxc {
namespace {

void ScatterAlongTypes(const ScatterAlongAttrs& attrs, TypeInference& t) {
  t.SetOutDType(0, t.InDType(0));
  t.SetInDType(0, t.OutDType(0));
  t.SetInDType(2, t.OutDType(0));
  t.SetOut(0, t.In(0));
  t.SetIn(0, t.Out(0));
  const Shape &data = t.In(0), &positions = t.In(1), &values = t.In(2);
  if (!data.known() || !values.known()) return;
  const auto axis = RequireAxis(t, "C1", "axis", attrs.axis, data.rank());
  if (!axis) return;
  Shape expected = data;
  const bool ranks = values.rank() == data.rank();
  if (ranks) expected[*axis] = values[*axis];
  t.Require(ranks && values == expected,
            "C2: values have shape {}, which does not fit data {}",
            ToString(values), ToString(data));
  if (!positions.known()) return;
  t.Require(positions == values || positions == Shape{values[*axis]},
            "C2: positions have shape {}, values {}", ToString(positions),
            ToString(values));
}

Expr Scattered(ScatterMode mode, const Expr& old, const Expr& value) {
  switch (mode) {
    case ScatterMode::kWrite:
      return value;
    case ScatterMode::kAdd:
      return old + value;
    case ScatterMode::kMultiply:
      return old * value;
    case ScatterMode::kMax:
      return Max(old, value);
    case ScatterMode::kMin:
      break;
  }
  return Min(old, value);
}

void ScatterAlongProcedure(const ScatterAlongAttrs& attrs,
                           ProcedureBuilder& p) {
  const Shape shape = p.InShape(0);
  const int axis = *ResolveAxis(attrs.axis, shape.rank());
  const int64_t n = shape[axis], m = p.InShape(2)[axis];
  const bool shared = p.InShape(1) != p.InShape(2);
  Extents rest = shape.dims();
  rest.erase(rest.begin() + axis);
  const Expr task = p.Tasks(Shape(rest).elements());
  std::vector<Expr> others;
  for (const Expr& index : Definition::Unflatten(task, Shape(rest))) {
    others.push_back(rest.size() > 1 ? p.Let(index) : index);
  }
  const auto at = [&](const Expr& i) {
    std::vector<Expr> index = others;
    index.insert(index.begin() + axis, i);
    return index;
  };
  p.For(0, n,
        [&](const Expr& i) { p.Set(p.Out().At(at(i)), p.In(0).At(at(i))); });
  p.For(0, m, [&](const Expr& j) {
    const std::vector<Expr> from = shared ? std::vector<Expr>{j} : at(j);
    const Expr position = p.Let(Cast(p.In(1).At(from), DType::kI64));
    p.If(position >= 0 && position < n, [&] {
      const Expr place = p.Out().At(at(position));
      p.Set(place, Scattered(attrs.mode, place, p.In(2).At(at(j))));
    });
  });
}

// The gradients, by `positions` that have the shape of the values.
class ScatterAlongGradient {
 public:
  ScatterAlongGradient(const ScatterAlongAttrs& attrs, GradientBuilder& g)
      : mode_(attrs.mode),
        g_(g),
        axis_(*ResolveAxis(attrs.axis, g.In(0).shape().rank())),
        data_(g.In(0)),
        values_(g.In(2)),
        positions_(Spread(Whole(g.In(1)))),
        head_(g.Head()) {}

  std::vector<Value> Of() {
    switch (mode_) {
      case ScatterMode::kWrite:
        return {Scatter(ScatterMode::kWrite, head_, g_.Zeros(values_.type())),
                {},
                Chosen(Stays(), Take(head_))};
      case ScatterMode::kAdd:
        return {head_, {}, Chosen(IsLegal(), Take(head_))};
      case ScatterMode::kMultiply:
        return OfProducts();
      case ScatterMode::kMax:
      case ScatterMode::kMin:
        break;
    }
    return {
        Chosen(Equal(data_, g_.Out()), head_),
        {},
        Chosen(And(IsLegal(), Equal(values_, Take(g_.Out()))), Take(head_))};
  }

 private:
  // As they are read: fractions are cut.
  Value Whole(Value positions) {
    const bool cut = IsFloat(positions.type().dtype);
    return cut ? g_.Cast(positions, DType::kI64) : positions;
  }

  // What is given for each position along the axis, for each value.
  Value Spread(Value line_of) {
    const Shape& shape = values_.shape();
    if (line_of.shape() == shape) return line_of;
    Extents line(shape.rank(), 1);
    line[axis_] = shape[axis_];
    return g_.BroadcastTo(g_.Reshape(line_of, line), shape);
  }

  Value Scatter(ScatterMode mode, Value data, Value values) {
    return g_.Op<op::ScatterAlong>({data, positions_, values},
                                   {.axis = axis_, .mode = mode});
  }
  Value Take(Value from) {
    return g_.Op<op::TakeAlong>({from, positions_}, {.axis = axis_});
  }
  Value Chosen(Value condition, Value x) {
    return g_.Where(condition, x, g_.Zeros(x.type()));
  }
  Value Equal(Value a, Value b) { return g_.Op<op::NpiEqual>({a, b}); }
  Value And(Value a, Value b) { return g_.Op<op::BroadcastLogicalAnd>({a, b}); }

  Value IsLegal() {
    const auto n = static_cast<double>(data_.shape()[axis_]);
    const Value low =
        g_.Op<op::NpiGreaterEqualScalar>({positions_}, {.scalar = 0});
    return And(low, g_.Op<op::NpiLessScalar>({positions_}, {.scalar = n}));
  }
  // 1 where a value is the last that was written to its place.
  Value Stays() {
    const auto count = static_cast<double>(values_.shape()[axis_]);
    const Value number = Spread(g_.Op<op::Arange>(
        {}, {.start = 0, .stop = count, .dtype = DType::kI64}));
    const Value none = g_.Zeros({DType::kI64, data_.shape()});
    return And(IsLegal(),
               Equal(Take(Scatter(ScatterMode::kWrite, none, number)), number));
  }

  // The product of the others of its place, where some are 0.
  std::vector<Value> OfProducts() {
    const Value ones = g_.Ones(data_.type()), zeros = g_.Zeros(data_.type());
    const Value is_zero = Equal(values_, g_.Zeros(values_.type()));
    const Value whole = g_.Where(is_zero, g_.Ones(values_.type()), values_);
    const Value product = Scatter(ScatterMode::kMultiply, ones, whole);
    const Value count = Scatter(ScatterMode::kAdd, zeros,
                                g_.Cast(is_zero, values_.type().dtype));
    const Value none = Equal(count, zeros);
    const Value single = Equal(count, ones);
    const Value kept = g_.Mul(head_, data_);
    const Value by_others = g_.Mul(kept, product);
    const Value of_whole = g_.Div(Take(Chosen(none, by_others)), whole);
    const Value of_zero = Take(Chosen(single, by_others));
    return {g_.Mul(head_, Chosen(none, product)),
            {},
            Chosen(IsLegal(), g_.Where(is_zero, of_zero, of_whole))};
  }

  const ScatterMode mode_;
  GradientBuilder& g_;
  const int axis_;
  const Value data_, values_, positions_, head_;
};

}  // namespace

MXC_OP(ScatterAlong) {
  return Op<ScatterAlongAttrs>("_scatter_along")
      .Doc("data, into which values are written at positions along an axis")
      .Inputs({{"data"}, {"positions"}, {"values"}})
      .Types(ScatterAlongTypes)
      .Procedure(ScatterAlongProcedure)
      .Gradient([](const ScatterAlongAttrs& attrs, GradientBuilder& g) {
        return ScatterAlongGradient(attrs, g).Of();
      });
}

}  // namespace mxc
