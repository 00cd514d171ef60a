// SPDX-License-Identifier: Apache-2.0
// fill_element_0index: lhs with one element of each row replaced.
//   lhs [n, m], mhs [n], rhs [n]: output[i, rhs[i]] = mhs[i]
// C1  lhs is a matrix, mhs and rhs have an entry for each row
#include "ir/ops/op.h"

namespace mxc {
namespace {

void FillElementTypes(const NoAttrs&, TypeInference& t) {
  t.AllSameDType();
  t.SetOut(0, t.In(0));
  t.SetIn(0, t.Out(0));
  if (!t.In(0).known()) return;
  const bool matrix = t.In(0).rank() == 2;
  const Shape rows = matrix ? Shape{t.In(0)[0]} : Shape();
  const auto fits = [&](const Shape& s) { return !s.known() || s == rows; };
  if (t.Require(matrix && fits(t.In(1)) && fits(t.In(2)),
                "C1: shapes {}, {} and {}, expected a matrix and an entry of "
                "both for each row",
                ToString(t.In(0)), ToString(t.In(1)), ToString(t.In(2)))) {
    t.SetIn(1, rows);
    t.SetIn(2, rows);
  }
}

}  // namespace

MXC_OP(FillElement0index) {
  return Op<>("fill_element_0index")
      .Doc("one element of each row replaced")
      .Inputs({{"lhs", InputKind::kData},
               {"mhs", InputKind::kData},
               {"rhs", InputKind::kData}})
      .Types(FillElementTypes)
      .Meaning([](const NoAttrs&, Definition& def) {
        const Expr column = Cast(def.In(2, {Var(0)}), DType::kI64);
        def.Set(0, Select(Var(1) == column, def.In(1, {Var(0)}),
                          def.In(0, def.Indices())));
      })
      .Gradient([](const NoAttrs&, GradientBuilder& g) -> std::vector<Value> {
        return {g.Needs(0) ? g.Op<op::FillElement0index>(
                                 {g.Head(), g.Zeros(g.In(1).type()), g.In(2)})
                           : Value(),
                g.Needs(1) ? g.Op<op::Pick>({g.Head(), g.In(2)}) : Value(),
                {}};
      });
}

}  // namespace mxc
