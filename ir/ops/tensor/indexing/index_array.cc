// SPDX-License-Identifier: Apache-2.0
// _contrib_index_array: the index of every element of data.
//   data    t[d0, …]
//   output  i64[d0, …, A]      A axes, all by default
// C1  axes are in range
#include "ir/ops/tensor/shape/axes.h"

namespace mxc {
namespace {

struct IndexArrayAttrs {
  std::optional<Extents> axes;

  void Describe(Fields& f) {
    f("axes", axes).Doc("the axes whose index is given; None: all");
  }
};

Extents IndexedAxes(const IndexArrayAttrs& attrs, int rank) {
  Extents axes = attrs.axes.value_or(AllAxes(rank));
  for (int64_t& axis : axes) axis = ResolveAxis(axis, rank).value_or(-1);
  return axes;
}

void IndexArrayTypes(const IndexArrayAttrs& attrs, TypeInference& t) {
  t.SetOutDType(0, DType::kI64);
  if (!t.In(0).known_rank()) return;
  const int rank = t.In(0).rank();
  for (const int64_t axis : attrs.axes.value_or(Extents{})) {
    if (!RequireAxis(t, "C1", "axis", axis, rank)) return;
  }
  Extents dims = t.In(0).dims();
  dims.push_back(static_cast<int64_t>(IndexedAxes(attrs, rank).size()));
  t.SetOut(0, Shape(dims));
}

void IndexArrayMeaning(const IndexArrayAttrs& attrs, Definition& def) {
  const int rank = def.InShape(0).rank();
  const Extents axes = IndexedAxes(attrs, rank);
  Extents begin(rank + 1, 0), extent = def.OutShape().dims();
  extent[rank] = 1;
  for (const int64_t axis : axes) {
    def.SetBox(0, begin, extent, Var(static_cast<int>(axis)));
    ++begin[rank];
  }
}

}  // namespace

MXC_OP(IndexArray) {
  return Op<IndexArrayAttrs>("_contrib_index_array")
      .Alias({"_npx_index_array"})
      .Doc("the index of every element")
      .Types(IndexArrayTypes)
      .Meaning(IndexArrayMeaning)
      .ZeroGradient();
}

}  // namespace mxc
