// SPDX-License-Identifier: Apache-2.0
// _insert_places: where what stands along an axis comes from, after an insertion;
// our own operator.
//   obj     i64[m]: indices from −n to n before which an element is put; clipped
//   output  i64[n + m]: below n an element of the axis, else n + k, of what is put
//           before obj[k]
// Elements before one index keep their order.
#include "ir/ops/numpy/indexing/insert_places.h"
#include "ir/ops/op.h"
#include "ir/program/procedure_builder.h"

namespace mxc {
namespace {

void InsertPlacesTypes(const InsertPlacesAttrs& a, TypeInference& t) {
  t.SetInDType(0, DType::kI64);
  t.SetOutDType(0, DType::kI64);
  if (t.In(0).known()) t.SetOut(0, Shape{a.extent + t.In(0)[0]});
}

void InsertPlacesProcedure(const InsertPlacesAttrs& a, ProcedureBuilder& p) {
  const int64_t n = a.extent, m = p.InShape(0)[0];
  const auto index = [&](const Expr& k) {
    const Expr stated = p.In(0)(k);
    const Expr counted = Select(stated < Expr(0), stated + Expr(n), stated);
    return Max(Min(counted, Expr(n)), Expr(0));
  };
  // How many are put before an index; then where the next of them goes.
  const ProcedureArray next = p.Array(DType::kI64, {n + 1});
  p.For(0, n + 1, [&](const Expr& i) { p.Set(next(i), Expr(0)); });
  p.For(0, m, [&](const Expr& k) {
    const Expr i = p.Let(index(k));
    p.Set(next(i), next(i) + Expr(1));
  });
  const Expr before = p.Let(Expr(0));
  p.For(0, n + 1, [&](const Expr& i) {
    const Expr count = p.Let(next(i));
    p.Set(next(i), before + i);
    p.Set(before, before + count);
    p.If(i < Expr(n), [&] { p.Set(p.Out()(before + i), i); });
  });
  p.For(0, m, [&](const Expr& k) {
    const Expr i = p.Let(index(k));
    p.Set(p.Out()(next(i)), Expr(n) + k);
    p.Set(next(i), next(i) + Expr(1));
  });
}

}  // namespace

MXC_OP(InsertPlaces) {
  return Op<InsertPlacesAttrs>("_insert_places")
      .Doc("where elements come from after an insertion")
      .Inputs({{"obj"}})
      .Types(InsertPlacesTypes)
      .Procedure(InsertPlacesProcedure)
      .Internal()
      .ZeroGradient();
}

}  // namespace mxc
