// SPDX-License-Identifier: Apache-2.0
// _top_order: where the first k elements of an axis are in sorted order, for
// small k; our own operator, see order.h.
// The best so far are kept in order; whatever goes before the last of them is
// put where it belongs, and the last one drops out.
#include "ir/ops/tensor/sort/order.h"
#include "ir/program/procedure_builder.h"

namespace mxc {
namespace {

void TopOrderProcedure(const OrderAttrs& attrs, ProcedureBuilder& p) {
  const OrderedRows rows(attrs, p);
  const int64_t n = rows.n(), k = rows.k();
  const ProcedureArray best = p.Array(p.InDType(0), {k});
  const ProcedureArray places = p.Array(DType::kI32, {k});
  const auto before = [&](const Expr& a, const Expr& b) {
    return attrs.is_ascend ? SortsBefore(a, b) : SortsBefore(b, a);
  };
  // Puts element i into the list, in which `free` is open.
  const auto insert = [&](const Expr& i, const Expr& x, const Expr& free) {
    const Expr at = p.Let(free);
    p.For(0, free, k - 1, [&](const Expr&) {
      const Expr other = p.Let(best(at - 1));
      p.If(Unary(UnaryOp::kNot, before(x, other)), [&] { p.Break(); });
      p.Set(best(at), other);
      p.Set(places(at), places(at - 1));
      p.Set(at, at - 1);
    });
    p.Set(best(at), x);
    p.Set(places(at), i);
  };
  p.For(0, k, [&](const Expr& i) { insert(i, p.Let(rows.Data(i)), i); });
  const Expr last = p.Let(best(k - 1));
  p.For(k, n, [&](const Expr& i) {
    const Expr x = p.Let(rows.Data(i));
    p.If(before(x, last), [&] {
      insert(i, x, Expr(k - 1));
      p.Set(last, best(k - 1));
    });
  });
  p.For(0, k, [&](const Expr& j) { p.Set(rows.Order(j), places(j)); });
}

}  // namespace

MXC_OP(TopOrder) {
  return Op<OrderAttrs>("_top_order")
      .Doc("the first of the order of an axis, kept while it is read")
      .Types(OrderTypes)
      .Procedure(TopOrderProcedure)
      .ZeroGradient();
}

}  // namespace mxc
