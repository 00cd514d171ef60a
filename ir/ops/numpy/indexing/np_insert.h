// SPDX-License-Identifier: Apache-2.0
// numpy.insert and numpy.delete: what stands where along an axis.
#pragma once

#include "ir/ops/op.h"

namespace mxc {

// first, first + step, …: indices of an axis, counted from the front.
struct PlaceRange {
  int64_t first = 0, step = 1, count = 0;

  int64_t operator[](int64_t i) const { return first + i * step; }
};

// Which index of an axis; a slice, an integer, or an input say it.
struct NpInsertAttrs {
  std::optional<double> val;
  std::optional<int64_t> start, stop, step, int_ind, axis;

  void Describe(Fields& f) {
    f("val", val).Doc("the number that is inserted; None: an input");
    DescribePlaces(f);
  }

  // What start, stop and step name of an axis of extent n, as Python has it; the
  // step is not 0.
  PlaceRange Slice(int64_t n) const;

 protected:
  void DescribePlaces(Fields& f) {
    f("start", start).Doc("of a slice: the first index");
    f("stop", stop).Doc("of a slice: the index that ends it");
    f("step", step).Doc("of a slice: from index to index");
    f("int_ind", int_ind).Doc("an index");
    f("axis", axis).Doc("the axis; None: the flattened input");
  }
};

// What a table of constant indices may have.
inline constexpr int64_t kMostPlaces = int64_t{1} << 24;

enum class InsertAt { kIndex, kSlice, kTensor };

// numpy.insert. Inputs: arr, then values unless `val` says one, then obj, i64
// of at most one axis, with kTensor.
//   C1  axis is in range; if it is None, values has at most one
//   C2  an index is from −n to n; those of obj are clipped
//   C3  values broadcasts to the place that it gets
//   C4  a slice has a step that is not 0
//   C5  obj has at most one axis, and without one takes one value along the axis
//   C6  at most kMostPlaces elements are put before an index or a slice
Op<NpInsertAttrs> NpInsertOperator(std::string name, InsertAt at);

// `data` with the elements of its axis in the order of `places`.
Value TakePlaces(GraphBuilder& b, Value data, int axis, const Extents& places);

}  // namespace mxc
