// SPDX-License-Identifier: Apache-2.0
// tile: data repeated reps[k] times along each axis, as numpy.tile. The shorter
// of shape and reps is filled up with leading ones.
// C1  every entry of reps is positive
#include "ir/ops/tensor/shape/tile.h"

#include <algorithm>

#include "ir/ops/tensor/shape/axes.h"

namespace mxc {
namespace {

void TileTypes(const TileAttrs& attrs, TypeInference& t) {
  t.AllSameDType();
  for (const int64_t times : attrs.reps) {
    if (!t.Require(times > 0, "C1: reps {} has {}, expected at least 1",
                   ToString(attrs.reps), times)) {
      return;
    }
  }
  if (!t.In(0).known_rank()) return;
  const int reps = static_cast<int>(attrs.reps.size());
  const int rank = std::max(t.In(0).rank(), reps);
  const int skip_in = rank - t.In(0).rank(), skip_reps = rank - reps;
  Shape out = Shape::OfRank(rank);
  for (int axis = 0; axis < rank; ++axis) {
    const auto extent =
        RequireProduct(t, axis < skip_in ? 1 : t.In(0)[axis - skip_in],
                       axis < skip_reps ? 1 : attrs.reps[axis - skip_reps]);
    if (!extent) return;
    out[axis] = *extent;
  }
  t.SetOut(0, out);
}

void TileMeaning(const TileAttrs&, Definition& def) {
  const Shape& data = def.InShape(0);
  const int skip = def.OutShape().rank() - data.rank();
  std::vector<Expr> index;
  for (int axis = 0; axis < data.rank(); ++axis) {
    const bool repeated = def.OutShape()[skip + axis] != data[axis];
    index.push_back(repeated ? Var(skip + axis) % data[axis]
                             : Var(skip + axis));
  }
  def.Set(0, def.In(0, index));
}

// The copies along each axis, one behind the other, are summed.
std::vector<Value> TileGradient(const TileAttrs&, GradientBuilder& g) {
  const Shape &in = g.In(0).shape(), &out = g.Out().shape();
  const int skip = out.rank() - in.rank();
  Extents split, copies;
  for (int axis = 0; axis < out.rank(); ++axis) {
    const int64_t extent = axis < skip ? 1 : in[axis - skip];
    if (out[axis] != extent) {
      copies.push_back(static_cast<int64_t>(split.size()));
      split.push_back(out[axis] / extent);
    }
    split.push_back(extent);
  }
  Value head = g.Reshape(g.Head(), split);
  if (!copies.empty()) head = g.Sum(head, copies);
  return {g.Reshape(head, in)};
}

}  // namespace

MXC_OP(Tile) {
  return Op<TileAttrs>("tile")
      .Alias({"_npi_tile"})
      .Doc("data repeated along its axes")
      .Types(TileTypes)
      .Meaning(TileMeaning)
      .Gradient(TileGradient);
}

}  // namespace mxc
