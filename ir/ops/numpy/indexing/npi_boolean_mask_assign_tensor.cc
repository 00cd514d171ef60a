// SPDX-License-Identifier: Apache-2.0
// _npi_boolean_mask_assign_tensor: data, and values where the mask is not 0.
//   value  one element, or t[A…, k, B…]: the k places that the mask chooses, in
//          row-major order; or t[A…, 1, B…], t[A…, B…]: the same for all places
// C1: see np_mask.h
// C2  value has such a shape
// How many places the mask chooses is known when it runs: of too few values the
// last is repeated, where MXNet stops.
#include "ir/ops/numpy/indexing/np_mask.h"
#include "ir/ops/numpy/np_composition.h"
#include "ir/ops/tensor/indexing/take.h"

namespace mxc {
namespace {

struct MaskAssignTensorAttrs {
  int64_t start_axis = 0;

  void Describe(Fields& f) {
    f("start_axis", start_axis)
        .Range(0, kMaxTensorRank)
        .Doc("the first axis that the mask counts");
  }
};

// A…, `places`, B…
Extents MaskedShape(const MaskAssignTensorAttrs& a, const Shape& data,
                    const Shape& mask, int64_t places) {
  Extents dims(data.dims().begin(), data.dims().begin() + a.start_axis);
  dims.push_back(places);
  dims.insert(dims.end(), data.dims().begin() + a.start_axis + mask.rank(),
              data.dims().end());
  return dims;
}

void MaskAssignTensorTypes(const MaskAssignTensorAttrs& a, TypeInference& t) {
  t.SetInDType(2, t.InDType(0));
  t.SetInDType(0, t.InDType(2));
  if (!RequireMask(a.start_axis, t) || !t.In(2).known()) return;
  const Shape& value = t.In(2);
  if (value.elements() == 1) return;
  const bool each = value.rank() == t.In(0).rank() - t.In(1).rank() + 1;
  Extents expected = MaskedShape(
      a, t.In(0), t.In(1), each ? value[static_cast<int>(a.start_axis)] : 1);
  if (!each) expected.erase(expected.begin() + a.start_axis);
  t.Require(value == Shape(expected), "C2: value has shape {}, expected {}",
            ToString(value), ToString(expected));
}

std::vector<Value> MaskAssignTensorParts(const MaskAssignTensorAttrs& a,
                                         const Node& node, GraphBuilder& b) {
  const Value data = node.inputs[0], mask = node.inputs[1];
  Value value = node.inputs[2];
  const int axis = static_cast<int>(a.start_axis);
  const int64_t count = mask.shape().elements();
  const bool each =
      value.shape().rank() == data.shape().rank() - mask.shape().rank() + 1;
  if (value.shape().elements() == 1) {
    value = b.Reshape(value, Shape(Extents(data.shape().rank(), 1)));
  } else if (each && value.shape()[axis] != 1) {
    const Value places = b.Op<op::MaskPlaces>({mask});
    value = b.Reshape(b.Op<op::Take>({value, places}, {.axis = axis}),
                      data.shape());
  } else {
    const Extents once = MaskedShape(a, data.shape(), mask.shape(), 1);
    const Extents all = MaskedShape(a, data.shape(), mask.shape(), count);
    value = b.Reshape(b.BroadcastTo(b.Reshape(value, Shape(once)), Shape(all)),
                      data.shape());
  }
  return {b.Op<op::NpiWhere>({MaskOverData(axis, node, b), value, data})};
}

}  // namespace

MXC_OP(NpiBooleanMaskAssignTensor) {
  return Op<MaskAssignTensorAttrs>("_npi_boolean_mask_assign_tensor")
      .Doc("data with values where a mask says so")
      .Inputs({{"data"}, {"mask"}, {"value"}})
      .Types(MaskAssignTensorTypes)
      .Decompose(MaskAssignTensorParts)
      .ZeroGradient();
}

}  // namespace mxc
