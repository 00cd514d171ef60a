// SPDX-License-Identifier: Apache-2.0
// slice_axis: the indices begin … end - 1 of one axis.
// C1  axis is in range
// C2  0 ≤ begin < end ≤ extent, after negative numbers have the extent added
#include "ir/ops/tensor/indexing/slice_axis.h"

#include "ir/ops/tensor/create/arange.h"
#include "ir/ops/tensor/indexing/place.h"
#include "ir/ops/tensor/indexing/take.h"
#include "ir/ops/tensor/shape/axes.h"

namespace mxc {
namespace {

void SliceAxisTypes(const SliceAxisAttrs& attrs, TypeInference& t) {
  t.AllSameDType();
  if (!t.In(0).known_rank()) return;
  const auto axis = RequireAxis(t, "C1", "axis", attrs.axis, t.In(0).rank());
  if (!axis) return;
  Shape out = t.In(0);
  if (out.known(*axis)) {
    const int64_t extent = out[*axis];
    const int64_t begin = attrs.Begin(extent), end = attrs.End(extent);
    if (!t.Require(0 <= begin && begin < end && end <= extent,
                   "C2: {} to {} is no range of axis {} with extent {}", begin,
                   end, *axis, extent)) {
      return;
    }
    out[*axis] = end - begin;
  }
  t.SetOut(0, out);
  Shape back = t.Out(0);
  back[*axis] = Shape::kUnknownDim;
  t.SetIn(0, back);
}

void SliceAxisMeaning(const SliceAxisAttrs& attrs, Definition& def) {
  const int axis = *ResolveAxis(attrs.axis, def.InShape(0).rank());
  std::vector<Expr> index = def.Indices();
  index[axis] = index[axis] + attrs.Begin(def.InShape(0)[axis]);
  def.Set(0, def.In(0, index));
}

std::vector<Value> SliceAxisGradient(const SliceAxisAttrs& attrs,
                                     GradientBuilder& g) {
  const Shape& in = g.In(0).shape();
  const int axis = *ResolveAxis(attrs.axis, in.rank());
  Extents begin(in.rank(), 0);
  begin[axis] = attrs.Begin(in[axis]);
  return {PlaceInZeros(g, g.Head(), in, begin, Extents(in.rank(), 1))};
}

// Entries that are counted from the end: behind the count there is none.
CountedForm SliceOfCounted(const SliceAxisAttrs& attrs, const Node& node,
                           std::span<const int> axes, Value count,
                           GraphBuilder& b) {
  const Shape& in = node.inputs[0].shape();
  const int axis = *ResolveAxis(attrs.axis, in.rank());
  const bool from_end = attrs.begin < 0 && attrs.end.value_or(-1) < 0;
  if (axes[0] != axis || !from_end) return {};
  const double first = static_cast<double>(attrs.begin);
  const double entries = static_cast<double>(node.types[0].shape[axis]);
  const Value behind = b.Op<op::Arange>(
      {}, {.start = first, .stop = first + entries, .dtype = DType::kI32});
  const Value at = b.Add(behind, count);
  return {{b.Op<op::Take>({node.inputs[0], at}, {.axis = axis})},
          {-1},
          node.types[0].shape[axis]};
}

}  // namespace

MXC_OP(SliceAxis) {
  return Op<SliceAxisAttrs>("slice_axis")
      .Doc("a range of indices of one axis")
      .Types(SliceAxisTypes)
      .Meaning(SliceAxisMeaning)
      .Counted(SliceOfCounted)
      .Gradient(SliceAxisGradient);
}

}  // namespace mxc
