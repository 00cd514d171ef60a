// SPDX-License-Identifier: Apache-2.0
// _nonzero_places: which elements of a tensor are not zero.
//   data    t[S…]    NaN is not zero
//   places  i32[n]   n its elements: row-major positions, ascending; behind them
//                    the last one again, or 0
//   count   i32[1]   how many there are
// What a reader takes at the places behind the count is as finite as the rest.
// C1  data have fewer than 2^31 elements
#include "ir/ops/op.h"
#include "ir/program/procedure_builder.h"

namespace mxc {
namespace {

void NonzeroPlacesTypes(const NoAttrs&, TypeInference& t) {
  t.SetOutDType(0, DType::kI32);
  t.SetOutDType(1, DType::kI32);
  t.SetOut(1, {1});
  const Shape& data = t.In(0);
  if (!data.known()) return;
  if (t.Require(data.elements() <= INT32_MAX,
                "C1: data have shape {}, expected fewer than 2^31 elements",
                ToString(data))) {
    t.SetOut(0, {data.elements()});
  }
}

void NonzeroPlacesProcedure(const NoAttrs&, ProcedureBuilder& p) {
  const Shape shape = p.InShape(0);  // Let may move what p holds
  const int64_t n = shape.elements();
  const Expr count = p.Let(Expr(0)), last = p.Let(Expr(0));
  p.For(0, n, [&](const Expr& i) {
    const Expr x = p.In(0).At(Definition::Unflatten(i, shape));
    p.If(Unary(UnaryOp::kNot, x == Lit(0, x)), [&] {
      p.Set(p.Out(0)(count), i);
      p.Set(last, i);
      p.Set(count, count + Expr(1));
    });
  });
  p.For(count, n, n, [&](const Expr& i) { p.Set(p.Out(0)(i), last); });
  p.Set(p.Out(1)(0), count);
}

}  // namespace

MXC_OP(NonzeroPlaces) {
  return Op<>("_nonzero_places")
      .Doc("which elements are not zero, and how many")
      .Outputs({"places", "count"})
      .Types(NonzeroPlacesTypes)
      .Procedure(NonzeroPlacesProcedure)
      .Internal()
      .ZeroGradient();
}

}  // namespace mxc
