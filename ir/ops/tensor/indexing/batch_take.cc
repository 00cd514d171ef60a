// SPDX-License-Identifier: Apache-2.0
// batch_take: one element of each row.
//   a [n, m], indices [n] → [n];  an index out of range is clipped
// C1  a is a matrix with one index for each row
#include "ir/ops/tensor/indexing/gathering.h"

namespace mxc {
namespace {

void BatchTakeTypes(const NoAttrs&, TypeInference& t) {
  t.SetOutDType(0, t.InDType(0));
  t.SetInDType(0, t.OutDType(0));
  const Shape &a = t.In(0), &indices = t.In(1);
  if (!a.known_rank()) return;
  if (!t.Require(a.rank() == 2 &&
                     (!indices.known() || !a.known() || indices == Shape{a[0]}),
                 "C1: a has shape {} and indices {}, expected a matrix and one "
                 "index for each row",
                 ToString(a), ToString(indices))) {
    return;
  }
  t.SetOut(0, Shape{a[0]});
  t.SetIn(1, t.Out(0));
}

}  // namespace

MXC_OP(BatchTake) {
  return Op<>("batch_take")
      .Doc("one element of each row")
      .Inputs({{"a", InputKind::kData}, {"indices", InputKind::kData}})
      .Types(BatchTakeTypes)
      .Meaning([](const NoAttrs&, Definition& def) {
        const Expr column = LegalIndex(def.In(1, {Var(0)}), def.InShape(0)[1],
                                       IndexMode::kClip);
        def.Set(0, def.In(0, {Var(0), column}));
      })
      .Gradient([](const NoAttrs&, GradientBuilder& g) -> std::vector<Value> {
        const Shape& a = g.In(0).shape();
        const Shape column = {a[0], 1};
        return {ScatterAdd(g, g.Reshape(g.Head(), column),
                           g.Reshape(g.In(1), column), a, 1, IndexMode::kClip),
                {}};
      });
}

}  // namespace mxc
