// SPDX-License-Identifier: Apache-2.0
// slice: data[begin:end:step] for the leading axes, as in Python.
// C1  begin, end and step have one length, at most the rank
// C2  step is not 0
// C3  the slice of every axis has at least one element
// Source: MXNet 1.9.1 operator/tensor/matrix_op-inl.h, GetIndexRange.
#include <algorithm>

#include "ir/ops/tensor/axes.h"
#include "ir/ops/tensor/place.h"

namespace mxc {
namespace {

struct SliceAttrs {
  std::vector<std::optional<int64_t>> begin, end, step;

  void Describe(Fields& f) {
    f("begin", begin).Required().Doc("first index of each axis; None: an end");
    f("end", end).Required().Doc("index to stop before; None: beyond the end");
    f("step", step).Doc("step of each axis; None: 1");
  }
};

struct SliceRange {
  int64_t begin = 0, step = 1, count = 0;
};

// The indices of one axis that a Python slice selects.
SliceRange SelectFrom(const SliceAttrs& attrs, size_t axis, int64_t extent) {
  const auto at = [&](const std::vector<std::optional<int64_t>>& list,
                      int64_t none) {
    if (axis >= list.size() || !list[axis]) return none;
    return *list[axis] < 0 ? *list[axis] + extent : *list[axis];
  };
  SliceRange range;
  if (axis < attrs.step.size()) range.step = attrs.step[axis].value_or(1);
  const bool up = range.step > 0;
  range.begin = at(attrs.begin, up ? 0 : extent - 1);
  range.begin = up ? std::max<int64_t>(range.begin, 0)
                   : std::min(range.begin, extent - 1);
  const int64_t end =
      std::clamp<int64_t>(at(attrs.end, up ? extent : -1), -1, extent);
  const int64_t span = up ? end - range.begin : range.begin - end;
  const uint64_t stride = up ? static_cast<uint64_t>(range.step)
                             : -static_cast<uint64_t>(range.step);
  const bool inside = 0 <= range.begin && range.begin < extent;
  if (inside && span > 0) {
    range.count = static_cast<int64_t>((span - 1) / stride) + 1;
  }
  return range;
}

std::optional<std::string> CheckSlice(const SliceAttrs& attrs) {
  if (attrs.begin.size() != attrs.end.size() ||
      (!attrs.step.empty() && attrs.step.size() != attrs.begin.size())) {
    return fmt::format(
        "C1: begin, end and step have {}, {} and {} entries, expected the same",
        attrs.begin.size(), attrs.end.size(), attrs.step.size());
  }
  if (std::ranges::find(attrs.step, 0) != attrs.step.end()) {
    return "C2: a step is 0";
  }
  return std::nullopt;
}

void SliceTypes(const SliceAttrs& attrs, TypeInference& t) {
  t.AllSameDType();
  if (!t.In(0).known_rank()) return;
  if (!t.Require(static_cast<int>(attrs.begin.size()) <= t.In(0).rank(),
                 "C1: {} axes are sliced, data has rank {}", attrs.begin.size(),
                 t.In(0).rank())) {
    return;
  }
  Shape out = t.In(0);
  for (int axis = 0; axis < static_cast<int>(attrs.begin.size()); ++axis) {
    if (!out.known(axis)) continue;
    const int64_t count = SelectFrom(attrs, axis, out[axis]).count;
    if (!t.Require(count > 0,
                   "C3: the slice of axis {} with extent {} has no element",
                   axis, out[axis])) {
      return;
    }
    out[axis] = count;
  }
  t.SetOut(0, out);
}

void SliceMeaning(const SliceAttrs& attrs, Definition& def) {
  std::vector<Expr> index = def.Indices();
  for (size_t axis = 0; axis < attrs.begin.size(); ++axis) {
    const SliceRange range =
        SelectFrom(attrs, axis, def.InShape(0)[static_cast<int>(axis)]);
    index[axis] = index[axis] * range.step + range.begin;
  }
  def.Set(0, def.In(0, index));
}

std::vector<Value> SliceGradient(const SliceAttrs& attrs, GradientBuilder& g) {
  const Shape& in = g.In(0).shape();
  Extents begin, step;
  for (int axis = 0; axis < in.rank(); ++axis) {
    const bool sliced = axis < static_cast<int>(attrs.begin.size());
    const SliceRange range =
        sliced ? SelectFrom(attrs, axis, in[axis]) : SliceRange();
    begin.push_back(range.begin);
    step.push_back(range.step);
  }
  return {PlaceInZeros(g, g.Head(), in, begin, step)};
}

}  // namespace

MXC_OP(Slice) {
  return Op<SliceAttrs>("slice")
      .Alias({"crop", "_npx_slice"})
      .Doc("a range of indices of the leading axes")
      .Check(CheckSlice)
      .Types(SliceTypes)
      .Meaning(SliceMeaning)
      .Gradient(SliceGradient);
}

}  // namespace mxc
