// SPDX-License-Identifier: Apache-2.0
// _npi_rot90: quarter turns in the plane of two axes.
// C1  axes are two, in range and distinct
#include <utility>

#include "ir/ops/numpy/np_composition.h"
#include "ir/ops/tensor/shape/axes.h"
#include "ir/ops/tensor/shape/reverse.h"
#include "ir/ops/tensor/shape/swap_axis.h"

namespace mxc {
namespace {

struct NpiRot90Attrs {
  int64_t k = 1;
  std::optional<Extents> axes;

  void Describe(Fields& f) {
    f("k", k).Doc("quarter turns, from the first axis to the second");
    f("axes", axes).Doc("the two axes of the plane; None: the first two");
  }

  Extents plane() const { return axes.value_or(Extents{0, 1}); }
  int64_t turns() const { return (k % 4 + 4) % 4; }
};

void NpiRot90Types(const NpiRot90Attrs& a, TypeInference& t) {
  t.AllSameDType();
  if (!t.In(0).known_rank()) return;
  const Extents plane = a.plane();
  if (!t.Require(plane.size() == 2, "C1: axes has {} entries, expected 2",
                 plane.size()) ||
      !RequireAxes(t, "C1", plane, t.In(0).rank())) {
    return;
  }
  Shape out = t.In(0);
  if (a.turns() % 2 == 1) {
    const int first = *ResolveAxis(plane[0], out.rank());
    const int second = *ResolveAxis(plane[1], out.rank());
    std::swap(out[first], out[second]);
  }
  t.SetOut(0, out);
}

std::vector<Value> NpiRot90Parts(const NpiRot90Attrs& a, const Node& node,
                                 GraphBuilder& b) {
  Value x = node.inputs[0];
  const int rank = x.shape().rank();
  const int64_t first = *ResolveAxis(a.plane()[0], rank);
  const int64_t second = *ResolveAxis(a.plane()[1], rank);
  const auto flipped = [&](Value v, int64_t axis) {
    return b.Op<op::Reverse>({v}, {.axis = {axis}});
  };
  const auto turned = [&](Value v) {
    return b.Op<op::SwapAxis>({v}, {.dim1 = first, .dim2 = second});
  };
  switch (a.turns()) {
    case 1:
      return {turned(flipped(x, second))};
    case 2:
      return {flipped(flipped(x, first), second)};
    case 3:
      return {flipped(turned(x), second)};
    default:
      return {b.Op<op::Copy>({x})};
  }
}

}  // namespace

MXC_OP(NpiRot90) {
  return Op<NpiRot90Attrs>("_npi_rot90")
      .Doc("numpy.rot90")
      .Types(NpiRot90Types)
      .Decompose(NpiRot90Parts);
}

}  // namespace mxc
