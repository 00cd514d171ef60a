// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/sort/order.h"

#include "ir/ops/tensor/shape/axes.h"
#include "ir/program/procedure_builder.h"

namespace mxc {

void OrderTypes(const OrderAttrs& attrs, TypeInference& t) {
  t.SetOutDType(0, DType::kI32);
  if (!t.In(0).known_rank()) return;
  const auto axis = RequireAxis(t, "C1", "axis", attrs.axis, t.In(0).rank());
  if (!axis) return;
  Shape out = t.In(0);
  const int64_t n = out[*axis];
  const bool fits =
      !out.known(*axis) || (attrs.k <= n && n < (int64_t{1} << 31));
  if (t.Require(fits, "C2: {} places of {} are asked for", attrs.k, n)) {
    out[*axis] = attrs.k;
    t.SetOut(0, out);
  }
}

OrderedRows::OrderedRows(const OrderAttrs& attrs, ProcedureBuilder& p)
    : p_(p), axis_(*ResolveAxis(attrs.axis, p.InShape(0).rank())) {
  Extents rest = p.InShape(0).dims();
  rest.erase(rest.begin() + axis_);
  const Expr task = p.Tasks(Shape(rest).elements());
  for (const Expr& index : Definition::Unflatten(task, Shape(rest))) {
    others_.push_back(rest.size() > 1 ? p.Let(index) : index);
  }
}

std::vector<Expr> OrderedRows::At(const Expr& i) const {
  std::vector<Expr> index = others_;
  index.insert(index.begin() + axis_, i);
  return index;
}

Expr SortsBefore(const Expr& a, const Expr& b) {
  if (!IsFloat(a->dtype)) return a < b;
  const Expr nan_a = Unary(UnaryOp::kIsNan, a);
  const Expr nan_b = Unary(UnaryOp::kIsNan, b);
  return a < b || (nan_b && Unary(UnaryOp::kNot, nan_a));
}

}  // namespace mxc
