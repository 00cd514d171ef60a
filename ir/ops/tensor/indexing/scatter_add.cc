// SPDX-License-Identifier: Apache-2.0
// _scatter_add: values added up at positions along an axis; our own operator,
// the gradient of take, pick, Embedding and their like.
//   values     f[A…, p, B…]
//   positions  i[p], or i[A…, p, B…]; out of range they are clipped, or wrapped
//   output     f[A…, extent, B…]
//   output[a, i, b] = Σ values[a, j, b] over all j with position i
// C1  axis is in range
// C2  positions has one axis of p elements, or the shape of values
#include "ir/ops/tensor/indexing/scatter_add.h"
#include "ir/ops/op.h"
#include "ir/ops/tensor/indexing/gathering.h"
#include "ir/ops/tensor/shape/axes.h"

namespace mxc {
namespace {

void ScatterAddTypes(const ScatterAddAttrs& attrs, TypeInference& t) {
  t.SetOutDType(0, t.InDType(0));
  t.SetInDType(0, t.OutDType(0));
  const Shape &values = t.In(0), &positions = t.In(1);
  if (!values.known()) return;
  const auto axis = RequireAxis(t, "C1", "axis", attrs.axis, values.rank());
  if (!axis) return;
  if (!t.Require(!positions.known() || positions == values ||
                     positions == Shape{values[*axis]},
                 "C2: positions have shape {}, values {}", ToString(positions),
                 ToString(values))) {
    return;
  }
  Shape out = values;
  out[*axis] = attrs.extent;
  t.SetOut(0, out);
}

void ScatterAddMeaning(const ScatterAddAttrs& attrs, Definition& def) {
  const Shape& values = def.InShape(0);
  const int axis = *ResolveAxis(attrs.axis, values.rank());
  const std::vector<Expr> i = def.Indices();
  const bool shared = def.InShape(1) == Shape{values[axis]};
  const DType dtype = AccumulateType(def.InDType(0));
  def.Set(0, Definition::Sum({values[axis]}, [&](const std::vector<Expr>& r) {
            std::vector<Expr> from = i;
            from[axis] = r[0];
            const Expr wide = Cast(def.In(0, from), dtype);
            const Expr position = def.In(1, shared ? r : from);
            const Expr here =
                LegalIndex(position, attrs.extent, attrs.mode) == i[axis];
            return Select(here, wide, Constant(0, wide->dtype));
          }));
}

}  // namespace

MXC_OP(ScatterAdd) {
  return Op<ScatterAddAttrs>("_scatter_add")
      .Internal()
      .Doc("values added up at positions along an axis")
      .Inputs({{"values", InputKind::kData}, {"positions", InputKind::kData}})
      .Types(ScatterAddTypes)
      .Meaning(ScatterAddMeaning);
}

}  // namespace mxc
