// SPDX-License-Identifier: Apache-2.0
// slice: data[begin:end:step] for the leading axes, as in Python.
// C1 to C3  see slicing.h
#include "ir/ops/tensor/indexing/place.h"
#include "ir/ops/tensor/indexing/slicing.h"

namespace mxc {
namespace {

void SliceTypes(const SliceAttrs& attrs, TypeInference& t) {
  t.AllSameDType();
  if (!t.In(0).known_rank()) return;
  const auto out = SliceShape(attrs, t.In(0), t);
  if (out) t.SetOut(0, *out);
}

void SliceMeaning(const SliceAttrs& attrs, Definition& def) {
  std::vector<Expr> index = def.Indices();
  const auto ranges = SelectFrom(attrs, def.InShape(0));
  for (size_t axis = 0; axis < ranges.size(); ++axis) {
    index[axis] = index[axis] * ranges[axis].step + ranges[axis].begin;
  }
  def.Set(0, def.In(0, index));
}

std::vector<Value> SliceGradient(const SliceAttrs& attrs, GradientBuilder& g) {
  Extents begin, step;
  for (const SliceRange& range : SelectFrom(attrs, g.In(0).shape())) {
    begin.push_back(range.begin);
    step.push_back(range.step);
  }
  return {PlaceInZeros(g, g.Head(), g.In(0).shape(), begin, step)};
}

}  // namespace

MXC_OP(Slice) {
  return Op<SliceAttrs>("slice")
      .Alias({"_npi_slice", "crop", "_npx_slice"})
      .Doc("a range of indices of the leading axes")
      .Check(CheckSlice)
      .Types(SliceTypes)
      .Meaning(SliceMeaning)
      .Gradient(SliceGradient);
}

}  // namespace mxc
