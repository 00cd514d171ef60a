// SPDX-License-Identifier: Apache-2.0
// SliceChannel: data cut along an axis into parts of equal size.
// C1  axis is in range
// C2  num_outputs divides the extent
// C3  squeeze_axis needs parts of extent 1
#include "ir/ops/tensor/shape/axes.h"
#include "ir/ops/tensor/shape/joining.h"

namespace mxc {
namespace {

struct SliceChannelAttrs {
  int64_t num_outputs = 1;
  int64_t axis = 1;
  bool squeeze_axis = false;

  void Describe(Fields& f) {
    f("num_outputs", num_outputs)
        .Required()
        .Range(1, kMaxOperands)
        .Doc("the number of parts");
    f("axis", axis).Doc("the axis that is cut");
    f("squeeze_axis", squeeze_axis).Doc("drop the axis, of extent 1 then");
  }
};

// The part that one output holds of a shape cut along `axis`.
std::optional<Shape> PartOf(const SliceChannelAttrs& attrs, TypeInference& t,
                            Extents dims, int axis) {
  const int64_t extent = dims[axis], parts = attrs.num_outputs;
  if (extent != Shape::kUnknownDim) {
    if (!t.Require(extent % parts == 0,
                   "C2: {} parts do not divide the extent {} of axis {}", parts,
                   extent, axis) ||
        !t.Require(!attrs.squeeze_axis || extent == parts,
                   "C3: squeeze_axis needs {} of extent 1, axis {} has {}",
                   parts, axis, extent)) {
      return std::nullopt;
    }
    dims[axis] = extent / parts;
  }
  if (attrs.squeeze_axis) dims.erase(dims.begin() + axis);
  return Shape(dims);
}

// data from one part.
void InferWhole(const SliceChannelAttrs& attrs, TypeInference& t) {
  for (int i = 0; i < t.outputs(); ++i) {
    if (!t.Out(i).known_rank()) continue;
    Extents dims = t.Out(i).dims();
    const int rank = t.Out(i).rank() + attrs.squeeze_axis;
    const auto axis = RequireAxis(t, "C1", "axis", attrs.axis, rank);
    if (!axis) return;
    if (attrs.squeeze_axis) dims.insert(dims.begin() + *axis, 1);
    const auto whole = RequireProduct(t, dims[*axis], attrs.num_outputs);
    if (!whole) return;
    dims[*axis] = *whole;
    t.SetIn(0, Shape(dims));
  }
}

void SliceChannelTypes(const SliceChannelAttrs& attrs, TypeInference& t) {
  t.AllSameDType();
  InferWhole(attrs, t);
  if (!t.In(0).known_rank()) return;
  const auto axis = RequireAxis(t, "C1", "axis", attrs.axis, t.In(0).rank());
  if (!axis) return;
  const auto part = PartOf(attrs, t, t.In(0).dims(), *axis);
  if (!part) return;
  for (int i = 0; i < t.outputs(); ++i) t.SetOut(i, *part);
}

void SliceChannelMeaning(const SliceChannelAttrs& attrs, Definition& def) {
  const int axis = *ResolveAxis(attrs.axis, def.InShape(0).rank());
  const int64_t extent = def.InShape(0)[axis] / attrs.num_outputs;
  for (int i = 0; i < static_cast<int>(attrs.num_outputs); ++i) {
    std::vector<Expr> index = def.Indices(i);
    if (attrs.squeeze_axis) index.insert(index.begin() + axis, 0);
    index[axis] = index[axis] + i * extent;
    def.Set(i, def.In(0, index));
  }
}

}  // namespace

MXC_OP(SliceChannel) {
  return Op<SliceChannelAttrs>("SliceChannel")
      .Alias({"split"})
      .Doc("cuts an axis into parts of equal size")
      .OutputsOf([](const SliceChannelAttrs& a) {
        return NumberedOutputs(a.num_outputs);
      })
      .Types(SliceChannelTypes)
      .Meaning(SliceChannelMeaning)
      .Gradient([](const SliceChannelAttrs& attrs, GradientBuilder& g) {
        return CutGradient(g, *ResolveAxis(attrs.axis, g.In(0).shape().rank()),
                           attrs.squeeze_axis);
      });
}

}  // namespace mxc
