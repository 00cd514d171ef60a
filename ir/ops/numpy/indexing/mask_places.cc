// SPDX-License-Identifier: Apache-2.0
// _mask_places: how many elements of a mask before each one are not 0; our own
// operator.
//   mask    [S…]
//   output  i64[n], n its elements
#include "ir/ops/op.h"
#include "ir/program/procedure_builder.h"

namespace mxc {
namespace {

void MaskPlacesProcedure(const NoAttrs&, ProcedureBuilder& p) {
  const Shape shape = p.InShape(0);  // Let may move what p holds
  const Expr found = p.Let(Expr(0));
  p.For(0, shape.elements(), [&](const Expr& i) {
    p.Set(p.Out()(i), found);
    const Expr x = p.In(0).At(Definition::Unflatten(i, shape));
    p.If(x != Lit(0, x), [&] { p.Set(found, found + Expr(1)); });
  });
}

}  // namespace

MXC_OP(MaskPlaces) {
  return Op<>("_mask_places")
      .Doc("how many elements before each one are not 0")
      .Types([](const NoAttrs&, TypeInference& t) {
        t.SetOutDType(0, DType::kI64);
        if (t.In(0).known()) t.SetOut(0, Shape{t.In(0).elements()});
      })
      .Procedure(MaskPlacesProcedure)
      .Internal()
      .ZeroGradient();
}

}  // namespace mxc
