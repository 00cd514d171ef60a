// SPDX-License-Identifier: Apache-2.0
// broadcast_to: axes of extent 1 repeated to the extents of shape; 0 in shape
// keeps the axis.
// C1  shape has the rank of data
// C2  an axis that changes has extent 1
#include "ir/ops/tensor/shape/broadcast_to.h"

#include "ir/ops/op.h"

namespace mxc {
namespace {

void BroadcastToTypes(const BroadcastToAttrs& attrs, TypeInference& t) {
  t.AllSameDType();
  if (!t.In(0).known_rank()) return;
  const int rank = static_cast<int>(attrs.shape.size());
  if (!t.Require(t.In(0).rank() == rank, "C1: shape {} has rank {}, data {}",
                 ToString(attrs.shape), rank, t.In(0).rank())) {
    return;
  }
  Shape out = t.In(0);
  for (int axis = 0; axis < rank; ++axis) {
    const int64_t extent = attrs.shape[axis];
    if (extent == 0) continue;
    if (!t.Require(!out.known(axis) || out[axis] == extent || out[axis] == 1,
                   "C2: axis {} has extent {}, expected 1 or {}", axis,
                   out[axis], extent)) {
      return;
    }
    out[axis] = extent;
  }
  t.SetOut(0, out);
}

}  // namespace

MXC_OP(BroadcastTo) {
  return Op<BroadcastToAttrs>("broadcast_to")
      .Doc("axes of extent 1 repeated")
      .Types(BroadcastToTypes)
      .Meaning([](const BroadcastToAttrs&, Definition& def) {
        def.Set(0, def.InBroadcast(0, def.Indices()));
      })
      .Gradient([](const BroadcastToAttrs&,
                   GradientBuilder& g) -> std::vector<Value> {
        return {g.HeadSummedTo(0)};
      });
}

}  // namespace mxc
