// SPDX-License-Identifier: Apache-2.0
// pick: one element along an axis of data, for each index of the other axes.
//   data [A…, n, B…], index [A…, B…] or [A…, 1, B…] → the same, or
//   [A…, 1, B…] with keepdims
// C1  axis is given, and in range
// C2  index has the shape of data without the axis
#include "ir/ops/tensor/indexing/pick.h"
#include "ir/ops/tensor/indexing/gathering.h"
#include "ir/ops/tensor/shape/axes.h"

namespace mxc {
namespace {

std::optional<std::string> CheckPick(const PickAttrs& attrs) {
  if (attrs.axis) return std::nullopt;
  return "C1: axis None is not supported";
}

void PickTypes(const PickAttrs& attrs, TypeInference& t) {
  t.SetOutDType(0, t.InDType(0));
  t.SetInDType(0, t.OutDType(0));
  const Shape &data = t.In(0), &index = t.In(1);
  if (!data.known_rank()) return;
  const auto axis = RequireAxis(t, "C1", "axis", *attrs.axis, data.rank());
  if (!axis) return;
  Extents kept = data.dims(), dropped = kept;
  kept[*axis] = 1;
  dropped.erase(dropped.begin() + *axis);
  if (dropped.empty()) dropped.push_back(1);
  const bool same_rank =
      index.known_rank() ? index.rank() == data.rank() : attrs.keepdims;
  const Shape expected(same_rank ? kept : dropped);
  if (!t.Require(!index.known() || !expected.known() || index == expected,
                 "C2: index has shape {}, expected {}", ToString(index),
                 ToString(expected))) {
    return;
  }
  t.SetIn(1, expected);
  t.SetOut(0, Shape(attrs.keepdims ? kept : dropped));
}

void PickMeaning(const PickAttrs& attrs, Definition& def) {
  const Shape& data = def.InShape(0);
  const int axis = *ResolveAxis(*attrs.axis, data.rank());
  std::vector<Expr> others = def.Indices();
  if (attrs.keepdims || data.rank() == 1) others.erase(others.begin() + axis);
  const auto with = [&](const Expr& position) {
    std::vector<Expr> index = others;
    index.insert(index.begin() + axis, position);
    return index;
  };
  const bool same_rank = def.InShape(1).rank() == data.rank();
  const IndexMode mode =
      attrs.mode == PickMode::kWrap ? IndexMode::kWrap : IndexMode::kClip;
  const Expr chosen = def.In(1, same_rank ? with(0) : others);
  def.Set(0, def.In(0, with(LegalIndex(chosen, data[axis], mode))));
}

std::vector<Value> PickGradient(const PickAttrs& attrs, GradientBuilder& g) {
  const Shape& data = g.In(0).shape();
  const int axis = *ResolveAxis(*attrs.axis, data.rank());
  Shape one = data;
  one[axis] = 1;
  return {
      ScatterAdd(
          g, g.Reshape(g.Head(), one), g.Reshape(g.In(1), one), data, axis,
          attrs.mode == PickMode::kWrap ? IndexMode::kWrap : IndexMode::kClip),
      {}};
}

}  // namespace

MXC_OP(Pick) {
  return Op<PickAttrs>("pick")
      .Alias({"choose_element_0index", "_npx_pick"})
      .Doc("one element along an axis")
      .Inputs({{"data", InputKind::kData}, {"index", InputKind::kData}})
      .Check(CheckPick)
      .Types(PickTypes)
      .Meaning(PickMeaning)
      .Gradient(PickGradient);
}

}  // namespace mxc
