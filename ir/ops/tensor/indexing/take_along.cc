// SPDX-License-Identifier: Apache-2.0
// _take_along: the elements along an axis that an index names for each place,
// as numpy.take_along_axis; our own operator, see sorting.h.
//   data [A…, n, B…], index [A…, k, B…] → [A…, k, B…]
// C1  axis is in range
// C2  data and index agree in every other axis
#include "ir/ops/tensor/indexing/take_along.h"
#include "ir/ops/tensor/indexing/gathering.h"
#include "ir/ops/tensor/shape/axes.h"

namespace mxc {
namespace {

void TakeAlongTypes(const TakeAlongAttrs& attrs, TypeInference& t) {
  t.SetOutDType(0, t.InDType(0));
  t.SetInDType(0, t.OutDType(0));
  if (!t.In(0).known() || !t.In(1).known()) return;
  const auto axis = RequireAxis(t, "C1", "axis", attrs.axis, t.In(0).rank());
  if (!axis) return;
  Shape expected = t.In(0);
  const bool ranks = t.In(1).rank() == expected.rank();
  if (ranks) expected[*axis] = t.In(1)[*axis];
  if (t.Require(ranks && t.In(1) == expected, "C2: index has shape {}, data {}",
                ToString(t.In(1)), ToString(t.In(0)))) {
    t.SetOut(0, expected);
  }
}

void TakeAlongMeaning(const TakeAlongAttrs& attrs, Definition& def) {
  const int axis = *ResolveAxis(attrs.axis, def.InShape(0).rank());
  std::vector<Expr> index = def.Indices();
  index[axis] = LegalIndex(def.In(1, def.Indices()), def.InShape(0)[axis],
                           IndexMode::kClip);
  def.Set(0, def.In(0, index));
}

}  // namespace

MXC_OP(TakeAlong) {
  return Op<TakeAlongAttrs>("_take_along")
      .Doc("the elements along an axis that indices name")
      .Inputs({{"data", InputKind::kData}, {"index", InputKind::kData}})
      .Types(TakeAlongTypes)
      .Meaning(TakeAlongMeaning)
      .Gradient([](const TakeAlongAttrs& attrs,
                   GradientBuilder& g) -> std::vector<Value> {
        const Shape& data = g.In(0).shape();
        const int axis = *ResolveAxis(attrs.axis, data.rank());
        return {ScatterAdd(g, g.Head(), g.In(1), data, axis, IndexMode::kClip),
                {}};
      });
}

}  // namespace mxc
