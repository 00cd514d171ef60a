// SPDX-License-Identifier: Apache-2.0
// _npi_delete: what is left of an axis without an index, or a slice.
// C1  axis is in range
// C2  an index is from −n to n − 1
// C3  something is left
// C4  see np_insert.h
// C5  no index is an input: what is left would depend on its values
// C6  the axis has at most kMostPlaces elements, of np_insert.h
#include "ir/ops/numpy/indexing/np_insert.h"
#include "ir/ops/tensor/shape/axes.h"

namespace mxc {
namespace {

struct NpiDeleteAttrs : NpInsertAttrs {
  void Describe(Fields& f) { DescribePlaces(f); }

  bool stated() const { return int_ind || start || stop || step; }

  PlaceRange Gone(int64_t n) const {
    if (!int_ind) return Slice(n);
    return {*int_ind < 0 ? *int_ind + n : *int_ind, 1, 1};
  }
  // The indices that are left of an axis of extent n.
  Extents Left(int64_t n) const {
    const PlaceRange gone = Gone(n);
    std::vector<bool> stays(static_cast<size_t>(n), true);
    for (int64_t i = 0; i < gone.count; ++i) {
      stays[static_cast<size_t>(gone[i])] = false;
    }
    Extents left;
    for (int64_t i = 0; i < n; ++i) {
      if (stays[static_cast<size_t>(i)]) left.push_back(i);
    }
    return left;
  }
};

void NpiDeleteTypes(const NpiDeleteAttrs& a, TypeInference& t) {
  t.SetOutDType(0, t.InDType(0));
  t.SetInDType(0, t.OutDType(0));
  if (!t.Require(a.stated(),
                 "C5: the index is an input, on whose values the "
                 "shape of the output depends") ||
      !t.Require(a.step.value_or(1) != 0, "C4: step is 0") ||
      !t.In(0).known()) {
    return;
  }
  Shape shape = a.axis ? t.In(0) : Shape{t.In(0).elements()};
  const auto axis =
      RequireAxis(t, "C1", "axis", a.axis.value_or(0), shape.rank());
  if (!axis) return;
  const int64_t n = shape[*axis], index = a.int_ind.value_or(0);
  if (!t.Require(-n <= index && index < n,
                 "C2: index {} is out of range for an extent of {}", index,
                 n)) {
    return;
  }
  if (!t.Require(n <= kMostPlaces,
                 "C6: axis {} has {} elements, expected at most {}", *axis, n,
                 kMostPlaces)) {
    return;
  }
  shape[*axis] = n - a.Gone(n).count;
  if (t.Require(shape[*axis] > 0, "C3: nothing is left of axis {}", *axis)) {
    t.SetOut(0, shape);
  }
}

std::vector<Value> NpiDeleteParts(const NpiDeleteAttrs& a, const Node& node,
                                  GraphBuilder& b) {
  const Value arr = node.inputs[0];
  const Value data =
      a.axis ? arr : b.Reshape(arr, Shape{arr.shape().elements()});
  const int axis = *ResolveAxis(a.axis.value_or(0), data.shape().rank());
  return {TakePlaces(b, data, axis, a.Left(data.shape()[axis]))};
}

}  // namespace

MXC_OP(NpiDelete) {
  return Op<NpiDeleteAttrs>("_npi_delete")
      .Doc("numpy.delete, of a stated index or slice")
      .InputsOf([](const NpiDeleteAttrs& a) {
        std::vector<InputSpec> inputs = {{"arr"}};
        if (!a.stated()) inputs.push_back({"obj"});
        return inputs;
      })
      .Types(NpiDeleteTypes)
      .Decompose(NpiDeleteParts);
}

}  // namespace mxc
