// SPDX-License-Identifier: Apache-2.0
// _accumulate: sums or products of the elements up to each position along an
// axis, or from it on; our own operator, in time that grows with the elements.
//   data    t[A…, n, B…]
//   output  as data
//   output[a, i, b] = data[a, 0, b] ⊕ … ⊕ data[a, i, b]
// reverse: of those from the last one down to i; exclusive: without i itself, and
// so 0 or 1 where none is left.
// C1  axis is in range
#include "ir/ops/tensor/reduction/accumulate.h"

#include "ir/ops/op.h"
#include "ir/ops/tensor/elementwise/scalar.h"
#include "ir/ops/tensor/shape/axes.h"
#include "ir/program/procedure_builder.h"

namespace mxc {
namespace {

void AccumulateTypes(const AccumulateAttrs& attrs, TypeInference& t) {
  t.AllSameShape();
  t.AllSameDType();
  if (!t.In(0).known_rank()) return;
  (void)RequireAxis(t, "C1", "axis", attrs.axis, t.In(0).rank());
}

void AccumulateProcedure(const AccumulateAttrs& attrs, ProcedureBuilder& p) {
  const Shape shape = p.InShape(0);
  const int axis = *ResolveAxis(attrs.axis, shape.rank());
  const int64_t n = shape[axis];
  const bool sums = attrs.mode == AccumulateMode::kSum;
  Extents rest = shape.dims();
  rest.erase(rest.begin() + axis);
  const Expr task = p.Tasks(Shape(rest).elements());
  std::vector<Expr> others;
  for (const Expr& index : Definition::Unflatten(task, Shape(rest))) {
    others.push_back(rest.size() > 1 ? p.Let(index) : index);
  }
  const DType wide = AccumulateType(p.InDType(0));
  const Expr so_far = p.Let(Constant(sums ? 0 : 1, wide));
  p.For(0, n, [&](const Expr& i) {
    std::vector<Expr> index = others;
    index.insert(index.begin() + axis, attrs.reverse ? n - 1 - i : i);
    if (attrs.exclusive) p.Set(p.Out().At(index), so_far);
    const Expr x = Cast(p.In(0).At(index), wide);
    p.Set(so_far, sums ? so_far + x : so_far * x);
    if (!attrs.exclusive) p.Set(p.Out().At(index), so_far);
  });
}

Value Accumulated(GraphBuilder& b, const AccumulateAttrs& attrs, Value x) {
  return b.Op<op::Accumulate>({x}, attrs);
}

// An element is a factor of all products from its own on: their sum by the
// heads, divided by it. Where an element is 0, only products up to the next one
// have a slope for it, in which 1 stands for it.
std::vector<Value> GradientOfProducts(const AccumulateAttrs& attrs,
                                      GradientBuilder& g) {
  const Value x = g.In(0), head = g.Head();
  const TensorType& type = x.type();
  const Value zeros = g.Zeros(type), ones = g.Ones(type);
  const Value is_zero = g.Op<op::NpiEqual>({x, zeros});
  const Value number = g.Cast(is_zero, DType::kI64);
  AccumulateAttrs counting = attrs, backwards = attrs;
  counting.mode = backwards.mode = AccumulateMode::kSum;
  backwards.reverse = !attrs.reverse;
  // So many zeros are factors of each product.
  const Value count = Accumulated(g, counting, number);
  const Value whole = g.Where(is_zero, ones, x);
  const Value terms = g.Mul(head, Accumulated(g, attrs, whole));
  const auto sum_where = [&](double zeros_in_it) {
    const Value here =
        g.Op<op::NpiEqualScalar>({count}, {.scalar = zeros_in_it});
    return Accumulated(g, backwards, g.Where(here, terms, zeros));
  };
  AccumulateAttrs inclusive = counting;
  inclusive.exclusive = false;
  // Behind the first zero nothing else has a slope.
  const Value first = g.Op<op::NpiEqualScalar>(
      {Accumulated(g, inclusive, number)}, {.scalar = 1});
  const Value of_zero = g.Where(first, sum_where(1), zeros);
  return {g.Where(is_zero, of_zero, g.Div(sum_where(0), whole))};
}

std::vector<Value> AccumulateGradient(const AccumulateAttrs& attrs,
                                      GradientBuilder& g) {
  if (attrs.mode == AccumulateMode::kProduct) {
    return GradientOfProducts(attrs, g);
  }
  AccumulateAttrs backwards = attrs;
  backwards.reverse = !attrs.reverse;
  return {Accumulated(g, backwards, g.Head())};
}

}  // namespace

MXC_OP(Accumulate) {
  return Op<AccumulateAttrs>("_accumulate")
      .Doc("sums or products of the elements up to each position")
      .Types(AccumulateTypes)
      .Procedure(AccumulateProcedure)
      .Gradient(AccumulateGradient);
}

}  // namespace mxc
