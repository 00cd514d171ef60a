// SPDX-License-Identifier: Apache-2.0
// _contrib_index_copy: old_tensor with some rows replaced.
//   old_tensor [n, R…], index_vector [m], new_tensor [m, R…] → [n, R…]
//   output[index_vector[j], r…] = new_tensor[j, r…]; the last j wins
// C1  new_tensor has a row for each index, of the shape of the rows of old
#include "ir/ops/op.h"

namespace mxc {
namespace {

void IndexCopyTypes(const NoAttrs&, TypeInference& t) {
  t.SetOutDType(0, t.InDType(0));
  t.SetOutDType(0, t.InDType(2));
  t.SetInDType(0, t.OutDType(0));
  t.SetInDType(2, t.OutDType(0));
  t.SetOut(0, t.In(0));
  t.SetIn(0, t.Out(0));
  if (!t.In(0).known() || !t.In(1).known() || !t.In(2).known()) return;
  Extents expected = t.In(0).dims();
  const bool legal = t.In(1).rank() == 1 && !expected.empty();
  if (legal) expected[0] = t.In(1)[0];
  t.Require(legal && t.In(2) == Shape(expected),
            "C1: new_tensor has shape {} for indices {} into {}",
            ToString(t.In(2)), ToString(t.In(1)), ToString(t.In(0)));
}

void IndexCopyMeaning(const NoAttrs&, Definition& def) {
  const std::vector<Expr> i = def.Indices();
  const Expr none = -1;
  const Expr source =
      Definition::MaxOf({def.InShape(1)[0]}, [&](const std::vector<Expr>& j) {
        const Expr row = Cast(def.In(1, {j[0]}), DType::kI64);
        return Select(row == i[0], j[0], none);
      });
  std::vector<Expr> from = i;
  from[0] = source;
  def.Set(0, Select(source >= 0, def.In(2, from), def.In(0, i)));
}

}  // namespace

MXC_OP(IndexCopy) {
  return Op<>("_contrib_index_copy")
      .Doc("a tensor with some rows replaced")
      .Inputs({{"old_tensor", InputKind::kData},
               {"index_vector", InputKind::kData},
               {"new_tensor", InputKind::kData}})
      .Types(IndexCopyTypes)
      .Meaning(IndexCopyMeaning)
      .Gradient([](const NoAttrs&, GradientBuilder& g) -> std::vector<Value> {
        return {g.Needs(0) ? g.Op<op::IndexCopy>(
                                 {g.Head(), g.In(1), g.Zeros(g.In(2).type())})
                           : Value(),
                {},
                g.Needs(2) ? g.Op<op::Take>({g.Head(), g.In(1)}) : Value()};
      });
}

}  // namespace mxc
