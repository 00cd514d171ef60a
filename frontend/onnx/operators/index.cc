// SPDX-License-Identifier: Apache-2.0
// What picks elements by their places.
#include <algorithm>
#include <cmath>

#include "frontend/onnx/operators/indices.h"
#include "frontend/onnx/tensor_data.h"
#include "ir/ops/nn/sequence/sequence_reverse.h"
#include "ir/ops/numpy/shape/npi_tril.h"
#include "ir/ops/tensor/create/arange.h"
#include "ir/ops/tensor/create/eye.h"
#include "ir/ops/tensor/elementwise/scalar.h"
#include "ir/ops/tensor/indexing/slice_axis.h"
#include "ir/ops/tensor/indexing/take.h"
#include "ir/ops/tensor/indexing/take_along.h"
#include "ir/ops/tensor/reduction/accumulate.h"
#include "ir/ops/tensor/sort/topk.h"

namespace mxc::onnx {

void RequireIndices(Call& c, int i, const std::function<int64_t(int64_t)>& at) {
  const auto known = c.Known(i);
  if (!known) return;
  for (int64_t k = 0; k < known->shape().elements(); ++k) {
    const auto index = static_cast<int64_t>(known->ExactAt(k));
    const int64_t extent = at(k);
    c.Require(index >= -extent && index < extent,
              "index {} is out of the {} elements", index, extent);
  }
}

Value FromFront(Call& c, Value indices, int64_t extent) {
  const Value x = c.Cast(indices, DType::kI64);
  const Value negative =
      c.Op<op::NpiLessScalar>({x}, {.scalar = 0}, "negative");
  const Value from_front =
      c.Op<op::PlusScalar>({x}, {.scalar = static_cast<double>(extent)});
  return c.Op<op::NpiWhere>({negative, from_front, x}, "indices");
}

Value IndicesOf(Call& c, int i, int64_t extent, int axis) {
  c.Require(!IsFloat(c.DTypeOf(i)), "its indices are floats");
  if (const auto known = c.Known(i)) {
    Extents values;
    for (int64_t k = 0; k < known->shape().elements(); ++k) {
      const auto at = static_cast<int64_t>(known->ExactAt(k));
      c.Require(at >= -extent && at < extent,
                "index {} is out of the {} elements of axis {}", at, extent,
                axis);
      values.push_back(at < 0 ? at + extent : at);
    }
    const Value constant = c.ConstantInts(values, "indices");
    return c.Reshape(constant, known->shape());
  }
  return FromFront(c, c.In(i), extent);
}

Value NumbersAlong(Call& c, int rank, int d, int64_t count) {
  Extents line(rank, 1);
  line[d] = count;
  return c.Reshape(
      c.Op<op::Arange>({}, {.start = 0, .stop = count, .dtype = DType::kI64}),
      line);
}

namespace {

// The shape of data in which indices stand for an axis.
Extents GatheredDims(const Shape& data, int axis, const Shape& indices) {
  Extents dims = data.dims();
  dims.erase(dims.begin() + axis);
  dims.insert(dims.begin() + axis, indices.dims().begin(),
              indices.dims().end());
  return dims;
}

// The first of indices that follow one another.
std::optional<int64_t> FirstOfRow(const Tensor& indices, int64_t extent) {
  const int64_t count = indices.shape().elements();
  std::optional<int64_t> first;
  for (int64_t i = 0; i < count; ++i) {
    auto at = static_cast<int64_t>(indices.ExactAt(i));
    if (at < 0) at += extent;
    if (!first) first = at;
    if (at != *first + i) return std::nullopt;
  }
  return first;
}

// The entries from `first` on. Those that the file counts from the end stay so: it
// is the end of sequences of any length, too.
Value RowOf(Call& c, Value data, int axis, int64_t first,
            const Tensor& indices) {
  const int64_t count = indices.shape().elements();
  SliceAxisAttrs slice = {.axis = axis, .begin = first, .end = first + count};
  if (count > 0 && indices.ExactAt(count - 1) < 0) {
    slice.begin = first - data.shape()[axis];
    if (slice.begin + count < 0) {
      slice.end = slice.begin + count;
    } else {
      slice.end = std::nullopt;
    }
  }
  return c.Op<op::SliceAxis>({data}, slice);
}

}  // namespace

void ImportGather(Call& c) {
  const int axis = c.Axis(c.Int("axis", 0), c.RankOf(0));
  const Value data = c.In(0);
  const int64_t extent = data.shape()[axis];
  c.Require(!IsFloat(c.DTypeOf(1)), "its indices are floats");
  RequireIndices(c, 1, [&](int64_t) { return extent; });
  const Extents dims = GatheredDims(data.shape(), axis, c.ShapeOf(1));
  if (Call::IsEmpty(dims)) return c.GiveEmpty(data.type().dtype, dims);
  if (const auto known = c.Known(1)) {
    if (const auto first = FirstOfRow(*known, extent)) {
      return c.Give(0, c.Reshape(RowOf(c, data, axis, *first, *known), dims));
    }
  }
  // wrap counts negative ones from the end.
  c.Give(0, c.Op<op::Take>({data, c.In(1)},
                           {.axis = axis, .mode = IndexMode::kWrap}));
}

void ImportGatherElements(Call& c) {
  const int axis = c.Axis(c.Int("axis", 0), c.RankOf(0));
  const Shape shape = c.ShapeOf(0), places = c.ShapeOf(1);
  c.Require(places.rank() == shape.rank(),
            "indices {} have not the rank of data {}", ToString(places),
            ToString(shape));
  if (Call::IsEmpty(places)) return c.GiveEmpty(c.DTypeOf(0), places);
  Value data = c.In(0);
  for (int d = 0; d < shape.rank(); ++d) {
    if (d == axis || places[d] == shape[d]) continue;
    c.Require(places[d] < shape[d], "indices {} exceed data {} along axis {}",
              ToString(places), ToString(shape), d);
    data = c.SliceAxis(data, d, 0, places[d]);
  }
  c.Give(0, c.Op<op::TakeAlong>({data, IndicesOf(c, 1, shape[axis], axis)},
                                {.axis = axis}));
}

// data [B…, D…, R…], indices [B…, I…, M] → [B…, I…, R…]
void ImportGatherND(Call& c) {
  const Shape data = c.ShapeOf(0), places = c.ShapeOf(1);
  const int64_t shared = c.Int("batch_dims", 0);
  c.Require(shared >= 0 && shared < places.rank() && shared < data.rank(),
            "batch_dims is {} for data {} and indices {}", shared,
            ToString(data), ToString(places));
  c.Require(!IsFloat(c.DTypeOf(1)), "its indices are floats");
  const int b = static_cast<int>(shared);
  const int columns = places.rank() - 1;
  const int64_t named = places[columns];
  c.Require(named >= 1 && named <= data.rank() - b,
            "indices {} name {} axes of data {}", ToString(places), named,
            ToString(data));
  for (int d = 0; d < b; ++d) {
    c.Require(places[d] == data[d], "data {} and indices {} differ in axis {}",
              ToString(data), ToString(places), d);
  }
  RequireIndices(
      c, 1, [&](int64_t k) { return data[b + static_cast<int>(k % named)]; });
  Extents dims(places.dims().begin(), places.dims().end() - 1);
  const Extents columns_dims = dims;
  dims.insert(dims.end(), data.dims().begin() + b + named, data.dims().end());
  if (Call::IsEmpty(dims)) return c.GiveEmpty(c.DTypeOf(0), dims);
  const Value indices = c.Cast(c.In(1), DType::kI64);
  if (b == 0 && named == 1) {
    const Value picked =
        c.Op<op::Take>({c.In(0), c.Reshape(indices, columns_dims)},
                       {.axis = 0, .mode = IndexMode::kWrap});
    return c.Give(0, picked);
  }
  Extents order = {columns};
  for (int d = 0; d < columns; ++d) order.push_back(d);
  std::vector<Value> rows;
  for (int d = 0; d < b; ++d) {
    const Value numbers = NumbersAlong(c, columns, d, columns_dims[d]);
    rows.push_back(c.Unsqueeze(c.BroadcastTo(numbers, columns_dims), 0));
  }
  rows.push_back(c.Transpose(indices, order));
  const Value picked = c.Op<op::GatherNd>({c.In(0), c.Concat(rows, 0)});
  c.Give(0, c.Reshape(picked, dims));
}

// --- rows of zeros with a one in them ---------------------------------------

void ImportOneHot(Call& c) {
  const Tensor depths = c.Need(1, "depth");
  c.Require(depths.shape().elements() == 1, "its depth has {} elements",
            depths.shape().elements());
  const double depth = depths.At(0);
  c.Require(depth >= 1 && depth < 1e9, "its depth is {}", depth);
  const auto count = static_cast<int64_t>(depth);
  const Shape shape = c.ShapeOf(0);
  c.Require(c.ShapeOf(2) == Shape{2}, "values have shape {}, expected (2,)",
            ToString(c.ShapeOf(2)));
  const int axis = c.Axis(c.Int("axis", -1), shape.rank() + 1);
  Extents dims = shape.dims();
  dims.insert(dims.begin() + axis, count);
  c.Require(dims.size() <= kMaxTensorRank, "its result has {} axes",
            dims.size());
  if (Call::IsEmpty(dims)) return c.GiveEmpty(c.DTypeOf(2), dims);
  const Value places = c.Unsqueeze(FromFront(c, c.In(0), count), axis);
  const Value numbers =
      NumbersAlong(c, static_cast<int>(dims.size()), axis, count);
  const Value hit = c.Op<op::NpiEqual>({places, numbers});
  const auto value = [&](int64_t i) {
    return c.Reshape(c.SliceAxis(c.In(2), 0, i, i + 1),
                     Extents(dims.size(), 1));
  };
  c.Give(0, c.Op<op::NpiWhere>({hit, value(1), value(0)}));
}

// x with zeros on one side of its k-th diagonal.
void ImportTrilu(Call& c) {
  const bool upper = c.Flag("upper", true);
  const Shape shape = c.ShapeOf(0);
  c.Require(shape.rank() >= 2, "data has {} axes, expected at least 2",
            shape.rank());
  if (Call::IsEmpty(shape)) return c.GiveEmpty(c.DTypeOf(0), shape);
  const int64_t rows = shape[shape.rank() - 2],
                columns = shape[shape.rank() - 1];
  int64_t k = c.Has(1) ? c.NeedInt(1, "k") : 0;
  k = std::clamp(k, -rows - 1, columns + 1);
  // Of what is kept below, the first diagonal that is not.
  if (upper) --k;
  const TensorType type = {DType::kBool, Shape{rows, columns}};
  const Value lower = c.Op<op::NpiTril>({c.Ones(type)}, {.k = k}, "below");
  const Value x = c.In(0);
  const Value zero = c.ScalarLike(0, x);
  c.Give(0, upper ? c.Op<op::NpiWhere>({lower, zero, x})
                  : c.Op<op::NpiWhere>({lower, x, zero}));
}

void ImportEyeLike(Call& c) {
  const Shape shape = c.ShapeOf(0);
  c.Require(shape.rank() == 2, "data has {} axes, expected 2", shape.rank());
  const DType dtype = c.ElementType("dtype", c.DTypeOf(0));
  const int64_t k = std::clamp(c.Int("k", 0), -shape[0], shape[1]);
  if (Call::IsEmpty(shape)) return c.GiveEmpty(dtype, shape);
  c.Give(
      0,
      c.Op<op::Eye>(
          {}, {.rows = shape[0], .columns = shape[1], .k = k, .dtype = dtype}));
}

// --- along an axis ----------------------------------------------------------

namespace {

void AccumulateAlong(Call& c, AccumulateMode mode) {
  const bool exclusive = c.Flag("exclusive"), reverse = c.Flag("reverse");
  const Shape shape = c.ShapeOf(0);
  const int axis = c.Axis(c.NeedInt(1, "axis"), shape.rank());
  if (Call::IsEmpty(shape)) return c.GiveEmpty(c.DTypeOf(0), shape);
  c.Give(0, c.Op<op::Accumulate>({c.In(0)}, {.axis = axis,
                                             .mode = mode,
                                             .exclusive = exclusive,
                                             .reverse = reverse}));
}

}  // namespace

void ImportCumSum(Call& c) { AccumulateAlong(c, AccumulateMode::kSum); }
void ImportCumProd(Call& c) { AccumulateAlong(c, AccumulateMode::kProduct); }

void ImportReverseSequence(Call& c) {
  const int64_t batch = c.Int("batch_axis", 1), time = c.Int("time_axis", 0);
  c.Require((batch == 0 && time == 1) || (batch == 1 && time == 0),
            "batch_axis is {} and time_axis {}, expected 0 and 1, or 1 and 0",
            batch, time);
  Value x = c.In(0);
  c.Require(x.shape().rank() >= 2, "data has {} axes, expected at least 2",
            x.shape().rank());
  Extents order;
  for (int d = 0; d < x.shape().rank(); ++d) order.push_back(d);
  if (batch == 0) std::swap(order[0], order[1]);
  const Value reversed = c.Op<op::SequenceReverse>(
      {c.Transpose(x, order), c.In(1)}, {.use_sequence_length = true});
  c.Give(0, c.Transpose(reversed, order));
}

namespace {

void GiveTop(Call& c, int64_t count, bool largest) {
  const Shape shape = c.ShapeOf(0);
  const int axis = c.Axis(c.Int("axis", -1), shape.rank());
  c.Require(count >= 0 && count <= shape[axis],
            "the first {} of {} elements are asked for", count, shape[axis]);
  if (count == 0) {
    Extents dims = shape.dims();
    dims[axis] = 0;
    c.Give(0, c.EmptyTensor(c.DTypeOf(0), dims));
    return c.Give(1, c.EmptyTensor(DType::kI64, dims));
  }
  const auto both = c.Ops<op::Topk>({c.In(0)}, {.axis = axis,
                                                .k = count,
                                                .ret_typ = TopkReturn::kBoth,
                                                .is_ascend = !largest,
                                                .dtype = DType::kI64});
  c.Give(0, both[0]);
  c.Give(1, both[1]);
}

}  // namespace

void ImportTopKOf(Call& c) { GiveTop(c, c.Int("k"), true); }

// Sorted whether that is asked for or not.
void ImportTopK(Call& c) {
  c.Ignore("sorted");
  const bool largest = c.Flag("largest", true);
  GiveTop(c, c.NeedInt(1, "k"), largest);
}

// --- ai.onnx.ml -------------------------------------------------------------

void ImportArrayFeatureExtractor(Call& c) {
  const Shape shape = c.ShapeOf(0);
  c.Require(shape.rank() >= 1, "data has no axis");
  const int axis = shape.rank() - 1;
  const int64_t count = c.ShapeOf(1).elements();
  const Value indices =
      c.Reshape(IndicesOf(c, 1, shape[axis], axis), Shape{count});
  const Value picked = c.Op<op::Take>({c.In(0), indices},
                                      {.axis = axis, .mode = IndexMode::kClip});
  c.Give(0, axis == 0 ? c.Unsqueeze(picked, 0) : picked);
}

void ImportBinarizer(Call& c) {
  const double threshold = c.Float("threshold", 0);
  const Value x = c.In(0);
  // No whole number lies between a threshold and the one below it.
  const double least =
      IsFloat(x.type().dtype) ? threshold : std::floor(threshold);
  const Value above = c.Op<op::NpiGreaterScalar>({x}, {.scalar = least});
  c.Give(0, c.Cast(above, x.type().dtype));
}

}  // namespace mxc::onnx
