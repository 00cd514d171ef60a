// SPDX-License-Identifier: Apache-2.0
// _npi_flip: the opposite order along axes.
// C1  axes are in range and distinct
#include "ir/ops/numpy/np_composition.h"
#include "ir/ops/tensor/shape/axes.h"
#include "ir/ops/tensor/shape/reverse.h"

namespace mxc {
namespace {

struct NpiFlipAttrs {
  Extents axis;

  void Describe(Fields& f) { f("axis", axis).Required().Doc("the axes"); }
};

void NpiFlipTypes(const NpiFlipAttrs& a, TypeInference& t) {
  t.AllSameShape();
  t.AllSameDType();
  if (t.In(0).known_rank()) RequireAxes(t, "C1", a.axis, t.In(0).rank());
}

std::vector<Value> NpiFlipParts(const NpiFlipAttrs& a, const Node& node,
                                GraphBuilder& b) {
  Extents axes = a.axis;
  for (int64_t& axis : axes) {
    axis = *ResolveAxis(axis, node.inputs[0].shape().rank());
  }
  return {b.Op<op::Reverse>(node.inputs, {.axis = axes})};
}

}  // namespace

MXC_OP(NpiFlip) {
  return Op<NpiFlipAttrs>("_npi_flip")
      .Doc("numpy.flip")
      .Types(NpiFlipTypes)
      .Decompose(NpiFlipParts);
}

}  // namespace mxc
