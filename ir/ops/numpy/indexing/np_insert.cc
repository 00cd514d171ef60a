// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/indexing/np_insert.h"

#include <algorithm>
#include <cstring>

#include "ir/ops/numpy/indexing/insert_places.h"
#include "ir/ops/numpy/np_composition.h"
#include "ir/ops/tensor/indexing/take.h"
#include "ir/ops/tensor/shape/axes.h"

namespace mxc {
namespace {

// An insertion of known shapes.
struct Insertion {
  Shape data;  // flattened if no axis is stated
  int axis = 0;
  PlaceRange places;  // before which something is put; none of an input
  int64_t count = 0;
  Extents values;      // of the values, before they are moved
  bool moved = false;  // the first of their axes is to be `axis`
  Shape output;

  // The shape that values broadcasts to.
  Extents Target() const {
    Extents dims = data.dims();
    dims[axis] = count;
    return dims;
  }
};

Extents MovedExtents(Extents dims, int axis) {
  std::rotate(dims.begin(), dims.begin() + 1, dims.begin() + axis + 1);
  return dims;
}

bool BroadcastsTo(const Extents& dims, const Extents& target) {
  return std::ranges::equal(dims, target, [](int64_t dim, int64_t wanted) {
    return dim == 1 || dim == wanted;
  });
}

// The places that an index or a slice names.
std::optional<PlaceRange> StatedPlaces(const NpInsertAttrs& a, InsertAt at,
                                       int64_t n, TypeInference* t) {
  if (at == InsertAt::kSlice) {
    const bool steps = a.step.value_or(1) != 0;
    if (t != nullptr && !t->Require(steps, "C4: step is 0")) return {};
    return a.Slice(n);
  }
  const int64_t index = a.int_ind.value_or(0);
  if (t != nullptr &&
      !t->Require(-n <= index && index <= n,
                  "C2: index {} is out of range for an extent of {}", index,
                  n)) {
    return {};
  }
  return PlaceRange{index < 0 ? index + n : index, 1, 1};
}

// The shapes are known; with `t` nullptr they passed before.
std::optional<Insertion> InsertionOf(const NpInsertAttrs& a, InsertAt at,
                                     const std::vector<Shape>& inputs,
                                     TypeInference* t) {
  Insertion found;
  const Shape& arr = inputs[0];
  found.data = a.axis ? arr : Shape{arr.elements()};
  const int rank = found.data.rank();
  if (t != nullptr) {
    const auto axis = RequireAxis(*t, "C1", "axis", a.axis.value_or(0), rank);
    if (!axis) return {};
  }
  found.axis = *ResolveAxis(a.axis.value_or(0), rank);
  const int64_t n = found.data[found.axis];
  if (!a.val) found.values = inputs[1].dims();
  if (t != nullptr &&
      !t->Require(std::ssize(found.values) <= rank,
                  "C1: values has shape {} for an array of {} axes",
                  ToString(found.values), rank)) {
    return {};
  }
  found.values.insert(found.values.begin(), rank - found.values.size(), 1);
  found.moved = at == InsertAt::kIndex;
  if (found.moved) found.values = MovedExtents(found.values, found.axis);
  int64_t named = 0;
  if (at == InsertAt::kTensor) {
    const Shape& obj = inputs.back();
    if (t != nullptr &&
        (!t->Require(obj.rank() <= 1, "C5: obj has shape {}", ToString(obj)) ||
         !t->Require(obj.rank() == 1 || found.values[found.axis] == 1,
                     "C5: values has extent {} along axis {} for one index",
                     found.values[found.axis], found.axis))) {
      return {};
    }
    named = obj.elements();
  } else {
    const auto places = StatedPlaces(a, at, n, t);
    if (!places) return {};
    found.places = *places;
    named = found.places.count;
  }
  // To one index any number of values goes.
  found.count = named == 1 ? found.values[found.axis] : named;
  if (t != nullptr &&
      !t->Require(BroadcastsTo(found.values, found.Target()),
                  "C3: values of shape {} for a place of shape {}",
                  ToString(found.values), ToString(found.Target()))) {
    return {};
  }
  if (t != nullptr && at != InsertAt::kTensor &&
      !t->Require(found.count <= kMostPlaces,
                  "C6: {} elements are put in, expected at most {}",
                  found.count, kMostPlaces)) {
    return {};
  }
  Extents dims = found.data.dims();
  dims[found.axis] += found.count;
  found.output = Shape(dims);
  return found;
}

std::vector<InputSpec> InsertInputs(const NpInsertAttrs& a, InsertAt at) {
  std::vector<InputSpec> inputs = {{"arr"}};
  if (!a.val) inputs.push_back({"values"});
  if (at == InsertAt::kTensor) inputs.push_back({"obj"});
  return inputs;
}

void InsertTypes(const NpInsertAttrs& a, InsertAt at, TypeInference& t) {
  t.SetOutDType(0, t.InDType(0));
  t.SetInDType(0, t.OutDType(0));
  if (at == InsertAt::kTensor) t.SetInDType(t.inputs() - 1, DType::kI64);
  std::vector<Shape> shapes;
  for (int i = 0; i < t.inputs(); ++i) {
    if (!t.In(i).known()) return;
    shapes.push_back(t.In(i));
  }
  if (const auto found = InsertionOf(a, at, shapes, &t)) {
    t.SetOut(0, found->output);
  }
}

Value PlacesConstant(GraphBuilder& b, const Extents& places) {
  std::byte* bytes = nullptr;
  const Tensor tensor =
      Tensor::Allocate({DType::kI64, Shape{std::ssize(places)}}, &bytes);
  std::memcpy(bytes, places.data(), places.size() * sizeof(int64_t));
  return b.Constant(tensor, "places");
}

std::vector<Value> InsertParts(const NpInsertAttrs& a, InsertAt at,
                               const Node& node, GraphBuilder& b) {
  std::vector<Shape> shapes;
  for (const Value& input : node.inputs) shapes.push_back(input.shape());
  const Insertion found = *InsertionOf(a, at, shapes, nullptr);
  const DType dtype = node.types[0].dtype;
  const Value data = b.Reshape(node.inputs[0], found.data);
  if (found.count == 0) return {data};
  Value values;
  const int rank = found.data.rank();
  if (a.val) {
    values = b.Reshape(b.Cast(b.Scalar(*a.val, DType::kF64), dtype),
                       Shape(Extents(rank, 1)));
  } else {
    Extents dims = shapes[1].dims();
    dims.insert(dims.begin(), rank - dims.size(), 1);
    values = b.Reshape(b.Cast(node.inputs[1], dtype), Shape(dims));
    if (found.moved) {
      values = Transposed(b, values, MovedExtents(AllAxes(rank), found.axis));
    }
  }
  values = b.BroadcastTo(values, Shape(found.Target()));
  Value obj;
  if (at == InsertAt::kTensor) {
    obj = b.BroadcastTo(
        b.Reshape(node.inputs.back(), Shape{shapes.back().elements()}),
        Shape{found.count});
  } else {
    Extents places(static_cast<size_t>(found.count));
    const bool one = found.places.count == 1;
    for (int64_t k = 0; k < found.count; ++k) {
      places[static_cast<size_t>(k)] = found.places[one ? 0 : k];
    }
    obj = PlacesConstant(b, places);
  }
  const Value places =
      b.Op<op::InsertPlaces>({obj}, {.extent = found.data[found.axis]});
  return {b.Op<op::Take>({b.Concat({data, values}, found.axis), places},
                         {.axis = found.axis})};
}

}  // namespace

PlaceRange NpInsertAttrs::Slice(int64_t n) const {
  const int64_t by = step.value_or(1);
  const auto within = [&](const std::optional<int64_t>& stated,
                          int64_t otherwise) {
    if (!stated) return otherwise;
    const int64_t index = *stated < 0 ? *stated + n : *stated;
    return by > 0 ? std::clamp<int64_t>(index, 0, n)
                  : std::clamp<int64_t>(index, -1, n - 1);
  };
  const int64_t first = within(start, by > 0 ? 0 : n - 1);
  const int64_t distance =
      by > 0 ? within(stop, n) - first : first - within(stop, -1);
  const int64_t stride = std::abs(by);
  return {first, by, distance > 0 ? (distance - 1) / stride + 1 : 0};
}

Op<NpInsertAttrs> NpInsertOperator(std::string name, InsertAt at) {
  return Op<NpInsertAttrs>(std::move(name))
      .Doc("numpy.insert")
      .InputsOf([at](const NpInsertAttrs& a) { return InsertInputs(a, at); })
      .Types([at](const NpInsertAttrs& a, TypeInference& t) {
        InsertTypes(a, at, t);
      })
      .Decompose([at](const NpInsertAttrs& a, const Node& node,
                      GraphBuilder& b) { return InsertParts(a, at, node, b); });
}

Value TakePlaces(GraphBuilder& b, Value data, int axis, const Extents& places) {
  return b.Op<op::Take>({data, PlacesConstant(b, places)}, {.axis = axis});
}

// _npi_insert_scalar: before one index: values, of which the first axis counts
// along axis.
// C1 … C6: see np_insert.h
MXC_OP(NpiInsertScalar) {
  return NpInsertOperator("_npi_insert_scalar", InsertAt::kIndex);
}

// _npi_insert_slice: one value before each index of a slice, or all before its
// only one.
// C1 … C6: see np_insert.h
MXC_OP(NpiInsertSlice) {
  return NpInsertOperator("_npi_insert_slice", InsertAt::kSlice);
}

// _npi_insert_tensor: one value before each index of obj, or all before its
// only one.
// C1 … C5: see np_insert.h
MXC_OP(NpiInsertTensor) {
  return NpInsertOperator("_npi_insert_tensor", InsertAt::kTensor);
}

}  // namespace mxc
