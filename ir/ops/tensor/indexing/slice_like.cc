// SPDX-License-Identifier: Apache-2.0
// slice_like: the leading part of data that has the extents of shape_like, in
// the given axes or in all.
// C1  axes are in range of both inputs
// C2  without axes, both have one rank
// C3  an extent of shape_like is at most that of data
#include "ir/ops/tensor/indexing/place.h"
#include "ir/ops/tensor/shape/axes.h"

namespace mxc {
namespace {

struct SliceLikeAttrs {
  Extents axes;

  void Describe(Fields& f) {
    f("axes", axes).Doc("the axes that are cut; (): all");
  }
};

void SliceLikeTypes(const SliceLikeAttrs& attrs, TypeInference& t) {
  t.SetOutDType(0, t.InDType(0));
  t.SetInDType(0, t.OutDType(0));
  const Shape &data = t.In(0), &like = t.In(1);
  if (!data.known_rank() || !like.known_rank()) return;
  if (!t.Require(!attrs.axes.empty() || data.rank() == like.rank(),
                 "C2: data has rank {} but shape_like {}", data.rank(),
                 like.rank())) {
    return;
  }
  Shape out = data;
  const Extents axes = attrs.axes.empty() ? AllAxes(data.rank()) : attrs.axes;
  for (const int64_t named : axes) {
    const auto axis = RequireAxis(t, "C1", "axis", named, data.rank());
    if (!axis || !RequireAxis(t, "C1", "axis", *axis, like.rank())) return;
    out[*axis] = like[*axis];
    if (!t.Require(!data.known(*axis) || like[*axis] <= data[*axis],
                   "C3: axis {} of shape_like has extent {}, data only {}",
                   *axis, like[*axis], data[*axis])) {
      return;
    }
  }
  t.SetOut(0, out);
}

}  // namespace

MXC_OP(SliceLike) {
  return Op<SliceLikeAttrs>("slice_like")
      .Doc("the leading part of data with the extents of another tensor")
      .Inputs({{"data", InputKind::kData}, {"shape_like", InputKind::kData}})
      .Types(SliceLikeTypes)
      .Meaning([](const SliceLikeAttrs&, Definition& def) {
        def.Set(0, def.In(0, def.Indices()));
      })
      .Gradient(
          [](const SliceLikeAttrs&, GradientBuilder& g) -> std::vector<Value> {
            const Shape& in = g.In(0).shape();
            return {PlaceInZeros(g, g.Head(), in, Extents(in.rank(), 0),
                                 Extents(in.rank(), 1)),
                    {}};
          });
}

}  // namespace mxc
