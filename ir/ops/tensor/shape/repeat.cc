// SPDX-License-Identifier: Apache-2.0
// repeat: every element `repeats` times in a row, along an axis, or of the
// flattened data.
// C1  axis is in range
// C2  repeats is positive
#include "ir/ops/tensor/shape/repeat.h"

#include "ir/ops/tensor/shape/axes.h"

namespace mxc {
namespace {

void RepeatTypes(const RepeatAttrs& attrs, TypeInference& t) {
  t.AllSameDType();
  if (!t.In(0).known_rank()) return;
  if (!attrs.axis) {
    if (!t.In(0).known()) return;
    const auto count = CheckedProduct(t.In(0).dims());
    const auto extent = RequireProduct(t, count.value_or(0), attrs.repeats);
    if (extent) t.SetOut(0, Shape{*extent});
    return;
  }
  const auto axis = RequireAxis(t, "C1", "axis", *attrs.axis, t.In(0).rank());
  if (!axis) return;
  Shape out = t.In(0);
  const auto extent = RequireProduct(t, out[*axis], attrs.repeats);
  if (!extent) return;
  out[*axis] = *extent;
  t.SetOut(0, out);
}

void RepeatMeaning(const RepeatAttrs& attrs, Definition& def) {
  std::vector<Expr> index = def.Indices();
  if (!attrs.axis) {
    index = Definition::Unflatten(index[0] / attrs.repeats, def.InShape(0));
  } else {
    const int axis = *ResolveAxis(*attrs.axis, def.InShape(0).rank());
    index[axis] = index[axis] / attrs.repeats;
  }
  def.Set(0, def.In(0, index));
}

// The copies of each element are summed.
std::vector<Value> RepeatGradient(const RepeatAttrs& attrs,
                                  GradientBuilder& g) {
  const Shape& in = g.In(0).shape();
  Extents split = attrs.axis ? in.dims() : Extents{in.elements()};
  const int axis = attrs.axis ? *ResolveAxis(*attrs.axis, in.rank()) : 0;
  split.insert(split.begin() + axis + 1, attrs.repeats);
  return {g.Reshape(g.Sum(g.Reshape(g.Head(), split), {axis + 1}), in)};
}

}  // namespace

MXC_OP(Repeat) {
  return Op<RepeatAttrs>("repeat")
      .Alias({"_np_repeat"})
      .Doc("every element several times in a row")
      .Types(RepeatTypes)
      .Meaning(RepeatMeaning)
      .Gradient(RepeatGradient);
}

}  // namespace mxc
