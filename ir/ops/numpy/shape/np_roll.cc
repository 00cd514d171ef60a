// SPDX-License-Identifier: Apache-2.0
// _np_roll: elements move along axes, and come in again at the other end.
// C1  shift has one entry, or one for each axis
// C2  axes are in range
#include "ir/ops/numpy/np_composition.h"
#include "ir/ops/tensor/shape/axes.h"

namespace mxc {
namespace {

struct NpRollAttrs {
  std::optional<Extents> shift, axis;

  void Describe(Fields& f) {
    f("shift", shift).Doc("by how much, for each axis or for all");
    f("axis", axis).Doc("the axes; None: the flattened data");
  }

  int64_t ShiftOf(size_t k) const {
    return shift->size() == 1 ? shift->front() : (*shift)[k];
  }
};

Value Rolled(GraphBuilder& b, Value x, int axis, int64_t shift) {
  const int64_t extent = x.shape()[axis];
  const int64_t first = ((-shift) % extent + extent) % extent;
  if (first == 0) return x;
  return b.Concat({b.SliceAxis(x, axis, first, extent, "front"),
                   b.SliceAxis(x, axis, 0, first, "back")},
                  axis);
}

void NpRollTypes(const NpRollAttrs& a, TypeInference& t) {
  t.AllSameShape();
  t.AllSameDType();
  const size_t axes = a.axis ? a.axis->size() : 1;
  if (!t.Require(a.shift && !a.shift->empty() &&
                     (a.shift->size() == 1 || a.shift->size() == axes),
                 "C1: shift has {} entries, expected 1 or {}",
                 a.shift ? a.shift->size() : 0, axes) ||
      !a.axis || !t.In(0).known_rank()) {
    return;
  }
  for (const int64_t axis : *a.axis) {
    RequireAxis(t, "C2", "axis", axis, t.In(0).rank());
  }
}

std::vector<Value> NpRollParts(const NpRollAttrs& a, const Node& node,
                               GraphBuilder& b) {
  Value x = node.inputs[0];
  if (!a.axis) {
    const Value row = Rolled(b, Flattened(b, x), 0, a.ShiftOf(0));
    return {b.Reshape(row, x.shape())};
  }
  for (size_t k = 0; k < a.axis->size(); ++k) {
    x = Rolled(b, x, *ResolveAxis((*a.axis)[k], x.shape().rank()),
               a.ShiftOf(k));
  }
  return {x == node.inputs[0] ? b.Op<op::Copy>({x}) : x};
}

}  // namespace

MXC_OP(NpRoll) {
  return Op<NpRollAttrs>("_np_roll")
      .Doc("numpy.roll")
      .Types(NpRollTypes)
      .Decompose(NpRollParts);
}

}  // namespace mxc
