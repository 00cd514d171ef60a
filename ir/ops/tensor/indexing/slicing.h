// SPDX-License-Identifier: Apache-2.0
// Python's slices of the leading axes: data[begin:end:step].
// C1  begin, end and step have one length, at most the rank
// C2  step is not 0
// C3  the slice of every axis has at least one element
// Source: MXNet 1.9.1 operator/tensor/matrix_op-inl.h, GetIndexRange.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/ops/op.h"

namespace mxc {

struct SliceAttrs {
  std::vector<std::optional<int64_t>> begin = {}, end = {}, step = {};

  void Describe(Fields& f) {
    f("begin", begin).Required().Doc("first index of each axis; None: an end");
    f("end", end).Required().Doc("index to stop before; None: beyond the end");
    f("step", step).Doc("step of each axis; None: 1");
  }
};
MXC_ATTRS(Slice, SliceAttrs);
MXC_ATTRS(SliceAssign, SliceAttrs);

struct SliceRange {
  int64_t begin = 0, step = 1, count = 0;
};

// The indices of one axis that a slice selects.
SliceRange SelectFrom(const SliceAttrs& attrs, size_t axis, int64_t extent);
// Those of all axes, also of those that are not sliced.
std::vector<SliceRange> SelectFrom(const SliceAttrs& attrs, const Shape& data);

std::optional<std::string> CheckSlice(const SliceAttrs& attrs);
// The shape of the slice of `data`; nullopt and a report if there is none.
std::optional<Shape> SliceShape(const SliceAttrs& attrs, const Shape& data,
                                TypeInference& t);

// Along one axis: whether an index of output 0, which has the shape of data, is
// in the slice; its index there.
struct SlicePlace {
  Expr inside, index;
};
std::vector<SlicePlace> PlacesIn(const SliceAttrs& attrs,
                                 const Definition& def);
Expr AllInside(const std::vector<SlicePlace>& places);

}  // namespace mxc
