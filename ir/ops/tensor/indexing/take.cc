// SPDX-License-Identifier: Apache-2.0
// take: the entries of an axis of a, named by indices.
//   a [A…, n, B…], indices [I…] → [A…, I…, B…]
// C1  axis is in range
// An index out of range is clipped, or wrapped with mode wrap; mode raise,
// where MXNet stops, clips.
#include "ir/ops/tensor/indexing/take.h"
#include "ir/ops/tensor/indexing/gathering.h"
#include "ir/ops/tensor/shape/axes.h"

namespace mxc {
namespace {

void TakeTypes(const TakeAttrs& attrs, TypeInference& t) {
  t.SetOutDType(0, t.InDType(0));
  t.SetInDType(0, t.OutDType(0));
  const Shape &a = t.In(0), &indices = t.In(1);
  if (!a.known_rank() || !indices.known_rank()) return;
  const auto axis = RequireAxis(t, "C1", "axis", attrs.axis, a.rank());
  if (!axis) return;
  Extents dims = a.dims();
  dims.erase(dims.begin() + *axis);
  dims.insert(dims.begin() + *axis, indices.dims().begin(),
              indices.dims().end());
  t.SetOut(0, Shape(dims));
}

void TakeMeaning(const TakeAttrs& attrs, Definition& def) {
  const Shape& a = def.InShape(0);
  const int axis = *ResolveAxis(attrs.axis, a.rank());
  std::vector<Expr> index = def.Indices();
  const auto first = index.begin() + axis;
  const auto last = first + def.InShape(1).rank();
  const Expr chosen = def.In(1, std::vector<Expr>(first, last));
  index.erase(first, last);
  index.insert(index.begin() + axis, LegalIndex(chosen, a[axis], attrs.mode));
  def.Set(0, def.In(0, index));
}

std::vector<Value> TakeGradient(const TakeAttrs& attrs, GradientBuilder& g) {
  const Shape& a = g.In(0).shape();
  const int axis = *ResolveAxis(attrs.axis, a.rank());
  Extents one_axis = a.dims();
  one_axis[axis] = g.In(1).shape().elements();
  return {ScatterAdd(g, g.Reshape(g.Head(), one_axis),
                     g.Reshape(g.In(1), Shape{one_axis[axis]}), a, axis,
                     attrs.mode),
          {}};
}

}  // namespace

MXC_OP(Take) {
  return Op<TakeAttrs>("take")
      .Alias({"_npi_take"})
      .Doc("the entries of an axis that indices name")
      .Inputs({{"a", InputKind::kData}, {"indices", InputKind::kData}})
      .Types(TakeTypes)
      .Meaning(TakeMeaning)
      .Gradient(TakeGradient);
}

}  // namespace mxc
