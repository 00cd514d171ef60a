// SPDX-License-Identifier: Apache-2.0
// _npi_broadcast_to: axes of extent 1, and axes before the first, repeated.
// C1  shape has at least as many axes as array
// C2  an axis that changes has extent 1
#include "ir/ops/numpy/np_composition.h"
#include "ir/ops/tensor/shape/axes.h"

namespace mxc {
namespace {

struct NpiBroadcastToAttrs {
  Extents shape;

  void Describe(Fields& f) {
    f("shape", shape).Min(-2).Doc("extents of the output; -2: that of array");
  }
};

void NpiBroadcastToTypes(const NpiBroadcastToAttrs& a, TypeInference& t) {
  t.AllSameDType();
  if (!t.In(0).known()) return;
  const Shape& in = t.In(0);
  Extents out = a.shape;
  const int more = static_cast<int>(out.size()) - in.rank();
  if (!t.Require(more >= 0, "C1: shape {} has fewer axes than array, {}",
                 ToString(a.shape), ToString(in))) {
    return;
  }
  for (int axis = 0; axis < in.rank(); ++axis) {
    int64_t& extent = out[more + axis];
    if (extent < 0) extent = in[axis];
    if (!t.Require(in[axis] == extent || in[axis] == 1,
                   "C2: {} does not broadcast to {}", ToString(in),
                   ToString(a.shape))) {
      return;
    }
  }
  t.SetOut(0, Shape(out));
}

std::vector<Value> NpiBroadcastToParts(const NpiBroadcastToAttrs&,
                                       const Node& node, GraphBuilder& b) {
  const Shape& out = node.types[0].shape;
  Extents dims = node.inputs[0].shape().dims();
  dims.insert(dims.begin(), out.rank() - static_cast<int>(dims.size()), 1);
  const Value same_rank = b.Reshape(node.inputs[0], Shape(dims));
  if (out.rank() == 0) return {b.Op<op::Copy>({same_rank})};
  return {b.BroadcastTo(same_rank, out)};
}

}  // namespace

MXC_OP(NpiBroadcastTo) {
  return Op<NpiBroadcastToAttrs>("_npi_broadcast_to")
      .Doc("numpy.broadcast_to")
      .Inputs({{"array", InputKind::kData}})
      .Types(NpiBroadcastToTypes)
      .Decompose(NpiBroadcastToParts);
}

}  // namespace mxc
