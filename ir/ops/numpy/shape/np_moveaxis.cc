// SPDX-License-Identifier: Apache-2.0
// _np_moveaxis: some axes come to stand elsewhere, the others keep their order.
// C1  as many places as axes
// C2  both are in range and distinct
#include <algorithm>

#include "ir/ops/numpy/np_composition.h"
#include "ir/ops/tensor/shape/axes.h"
#include "ir/ops/tensor/shape/permute.h"

namespace mxc {
namespace {

struct NpMoveaxisAttrs {
  Extents source, destination;

  void Describe(Fields& f) {
    f("source", source).Required().Doc("the axes to move");
    f("destination", destination).Required().Doc("where they come to stand");
  }
};

Extents MovedOrder(const NpMoveaxisAttrs& a, int rank) {
  Extents order(rank, -1), rest;
  for (size_t k = 0; k < a.source.size(); ++k) {
    order[*ResolveAxis(a.destination[k], rank)] =
        *ResolveAxis(a.source[k], rank);
  }
  int64_t next = 0;
  for (int64_t& axis : order) {
    if (axis >= 0) continue;
    while (std::ranges::any_of(a.source, [&](int64_t source) {
      return *ResolveAxis(source, rank) == next;
    })) {
      ++next;
    }
    axis = next++;
  }
  return order;
}

void NpMoveaxisTypes(const NpMoveaxisAttrs& a, TypeInference& t) {
  t.AllSameDType();
  if (!t.In(0).known_rank()) return;
  const int rank = t.In(0).rank();
  if (t.Require(a.source.size() == a.destination.size(),
                "C1: {} axes are moved to {} places", a.source.size(),
                a.destination.size()) &&
      RequireAxes(t, "C2", a.source, rank) &&
      RequireAxes(t, "C2", a.destination, rank)) {
    PermuteTypes(t, MovedOrder(a, rank));
  }
}

std::vector<Value> NpMoveaxisParts(const NpMoveaxisAttrs& a, const Node& node,
                                   GraphBuilder& b) {
  return {Transposed(b, node.inputs[0],
                     MovedOrder(a, node.inputs[0].shape().rank()))};
}

}  // namespace

MXC_OP(NpMoveaxis) {
  return Op<NpMoveaxisAttrs>("_np_moveaxis")
      .Doc("numpy.moveaxis")
      .Inputs({{"a", InputKind::kData}})
      .Types(NpMoveaxisTypes)
      .Decompose(NpMoveaxisParts);
}

}  // namespace mxc
