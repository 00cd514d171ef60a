// SPDX-License-Identifier: Apache-2.0
// What writes elements by their places.
//
// Positions that are known when the network is imported say where each element
// of the result comes from, so that it is a take, or a concatenation, of data
// and updates together; others are left to _scatter_along.
#include <algorithm>

#include "frontend/onnx/operators/indices.h"
#include "ir/ops/tensor/elementwise/scalar.h"
#include "ir/ops/tensor/indexing/scatter_along.h"
#include "ir/ops/tensor/indexing/take.h"

namespace mxc::onnx {
namespace {

constexpr int64_t kMostSources = 1 << 22;  // of a take

ScatterMode ScatterModeOf(Call& c) {
  return static_cast<ScatterMode>(
      c.OneOf("reduction", {"none", "add", "mul", "max", "min"}, 0));
}

Value ScatterInto(Call& c, Value data, Value positions, Value updates, int axis,
                  ScatterMode mode) {
  c.Require(updates.type().dtype == data.type().dtype,
            "updates are {}, data {}", ToString(updates.type()),
            ToString(data.type()));
  return c.Op<op::ScatterAlong>({data, positions, updates},
                                {.axis = axis, .mode = mode});
}

// data [n, R] with the rows `positions`, in 0 … n - 1, replaced by those of
// updates [m, R].
Value ReplaceRows(Call& c, Value data, const Extents& positions,
                  Value updates) {
  const int64_t n = data.shape()[0];
  bool in_a_row = true;
  for (size_t j = 0; j < positions.size(); ++j) {
    in_a_row =
        in_a_row && positions[j] == positions[0] + static_cast<int64_t>(j);
  }
  if (in_a_row) {
    std::vector<Value> parts;
    const int64_t end = positions[0] + static_cast<int64_t>(positions.size());
    if (positions[0] > 0) {
      parts.push_back(c.SliceAxis(data, 0, 0, positions[0], "before"));
    }
    parts.push_back(updates);
    if (end < n) parts.push_back(c.SliceAxis(data, 0, end, n, "behind"));
    return c.Concat(parts, 0);
  }
  Extents sources;
  for (int64_t i = 0; i < n; ++i) sources.push_back(i);
  for (size_t j = 0; j < positions.size(); ++j) {
    sources[positions[j]] = n + static_cast<int64_t>(j);
  }
  return c.Op<op::Take>(
      {c.Concat({data, updates}, 0), c.ConstantInts(sources, "sources")},
      {.axis = 0, .mode = IndexMode::kClip});
}

// The positions in row-major order that indices along `axis` name, in a shape
// of which they cover the first elements of the other axes.
Extents FlatPositions(const Tensor& indices, const Shape& shape, int axis) {
  const Shape& covered = indices.shape();
  Extents strides(shape.rank(), 1), positions;
  for (int d = shape.rank() - 2; d >= 0; --d) {
    strides[d] = strides[d + 1] * shape[d + 1];
  }
  for (int64_t k = 0; k < covered.elements(); ++k) {
    int64_t rest = k, position = 0;
    for (int d = covered.rank() - 1; d >= 0; --d) {
      int64_t at = rest % covered[d];
      rest /= covered[d];
      if (d == axis) {
        at = static_cast<int64_t>(indices.ExactAt(k));
        if (at < 0) at += shape[d];
      }
      position += at * strides[d];
    }
    positions.push_back(position);
  }
  return positions;
}

}  // namespace

void ImportScatterElements(Call& c) {
  const ScatterMode mode = ScatterModeOf(c);
  const Shape shape = c.ShapeOf(0), places = c.ShapeOf(1);
  const int axis = c.Axis(c.Int("axis", 0), shape.rank());
  c.Require(places.rank() == shape.rank() && c.ShapeOf(2) == places,
            "data {}, indices {} and updates {} do not fit", ToString(shape),
            ToString(places), ToString(c.ShapeOf(2)));
  if (Call::IsEmpty(places)) return c.Give(0, c.operand(0));
  Shape covered = shape;
  for (int d = 0; d < shape.rank(); ++d) {
    if (d == axis) continue;
    c.Require(places[d] <= shape[d], "indices {} exceed data {} along axis {}",
              ToString(places), ToString(shape), d);
    covered[d] = places[d];
  }
  const Value data = c.In(0), updates = c.In(2);
  const Value indices = IndicesOf(c, 1, shape[axis], axis);
  const auto known = c.Known(1);
  if (known && mode == ScatterMode::kWrite &&
      shape.elements() <= kMostSources) {
    const Value replaced =
        ReplaceRows(c, c.Reshape(data, Shape{shape.elements(), 1}),
                    FlatPositions(*known, shape, axis),
                    c.Reshape(updates, Shape{places.elements(), 1}));
    return c.Give(0, c.Reshape(replaced, shape));
  }
  if (covered == shape) {
    return c.Give(0, ScatterInto(c, data, indices, updates, axis, mode));
  }
  Value part = data;
  for (int d = 0; d < shape.rank(); ++d) {
    if (covered[d] < shape[d]) part = c.SliceAxis(part, d, 0, covered[d]);
  }
  part = ScatterInto(c, part, indices, updates, axis, mode);
  c.Give(0, c.Overwritten(data, part, Extents(shape.rank(), 0)));
}

// data [D…, R…], indices [I…, M], updates [I…, R…]
void ImportScatterND(Call& c) {
  const ScatterMode mode = ScatterModeOf(c);
  const Shape shape = c.ShapeOf(0), places = c.ShapeOf(1);
  c.Require(places.rank() >= 1, "indices have no axis");
  const int64_t named = places[places.rank() - 1];
  c.Require(named >= 1 && named <= shape.rank(),
            "indices {} name {} axes of data {}", ToString(places), named,
            ToString(shape));
  Extents expected(places.dims().begin(), places.dims().end() - 1);
  expected.insert(expected.end(), shape.dims().begin() + named,
                  shape.dims().end());
  c.Require(c.ShapeOf(2) == Shape(expected),
            "updates have shape {}, expected {}", ToString(c.ShapeOf(2)),
            ToString(Shape(expected)));
  c.Require(!IsFloat(c.DTypeOf(1)), "its indices are floats");
  const auto extent = [&](int64_t k) {
    return shape[static_cast<int>(k % named)];
  };
  RequireIndices(c, 1, extent);
  if (Call::IsEmpty(expected)) return c.Give(0, c.operand(0));
  const Value given = c.In(0);
  int64_t rows = 1;
  Extents strides(named, 1);
  for (int d = static_cast<int>(named) - 1; d >= 0; --d) {
    strides[d] = rows;
    rows *= shape[d];
  }
  const int64_t width = shape.elements() / rows;
  const int64_t count = places.elements() / named;
  const Value data = c.Reshape(given, Shape{rows, width});
  const Value updates = c.Reshape(c.In(2), Shape{count, width});
  const auto known = c.Known(1);
  if (known && mode == ScatterMode::kWrite && rows <= kMostSources) {
    Extents positions(count, 0);
    for (int64_t k = 0; k < count * named; ++k) {
      auto at = static_cast<int64_t>(known->ExactAt(k));
      if (at < 0) at += extent(k);
      positions[k / named] += at * strides[k % named];
    }
    return c.Give(0,
                  c.Reshape(ReplaceRows(c, data, positions, updates), shape));
  }
  const Value table = c.Reshape(c.In(1), Shape{count, named});
  Value positions;
  for (int64_t m = 0; m < named; ++m) {
    const Value column = FromFront(
        c, c.Reshape(c.SliceAxis(table, 1, m, m + 1), Shape{count}), extent(m));
    const Value part = c.Op<op::MulScalar>(
        {column}, {.scalar = static_cast<double>(strides[m])});
    positions = m == 0 ? part : c.Add(positions, part);
  }
  c.Give(0,
         c.Reshape(ScatterInto(c, data, positions, updates, 0, mode), shape));
}

// past_cache, update, write_indices: a place of the sequence for each sample.
void ImportTensorScatter(Call& c) {
  const bool circular = c.OneOf("mode", {"linear", "circular"}, 0) == 1;
  const Shape shape = c.ShapeOf(0), part = c.ShapeOf(1);
  const int axis = c.Axis(c.Int("axis", -2), shape.rank());
  c.Require(axis > 0, "axis 0 is that of the samples");
  Shape expected = shape;
  if (part.rank() == shape.rank()) expected[axis] = part[axis];
  c.Require(part == expected && part[axis] <= shape[axis],
            "update {} does not fit past_cache {}", ToString(part),
            ToString(shape));
  const int64_t length = shape[axis], steps = part[axis], samples = shape[0];
  if (Call::IsEmpty(part)) return c.Give(0, c.operand(0));
  const Value past = c.In(0), update = c.In(1);
  std::optional<Tensor> known;
  if (c.Has(2)) {
    c.Require(c.ShapeOf(2) == Shape{samples},
              "write_indices have shape {}, expected ({},)",
              ToString(c.ShapeOf(2)), samples);
    known = c.Known(2);
  } else {
    c.Require(samples <= 1 << 24, "it has {} samples", samples);
    known = Tensor::Filled({DType::kI64, Shape{samples}}, 0);
  }
  if (known) {
    bool alike = true;
    for (int64_t n = 0; n < samples; ++n) {
      const auto first = static_cast<int64_t>(known->ExactAt(n));
      c.Require(first >= 0 && (circular || first <= length - steps),
                "write index {} leaves no place for {} steps in {}", first,
                steps, length);
      alike = alike && first == static_cast<int64_t>(known->ExactAt(0));
    }
    const int64_t first = static_cast<int64_t>(known->ExactAt(0)) % length;
    if (alike && first + steps <= length) {
      std::vector<Value> parts;
      if (first > 0) parts.push_back(c.SliceAxis(past, axis, 0, first));
      parts.push_back(update);
      if (first + steps < length) {
        parts.push_back(c.SliceAxis(past, axis, first + steps, length));
      }
      return c.Give(0, c.Concat(parts, axis));
    }
  }
  Extents firsts(shape.rank(), 1);
  firsts[0] = samples;
  const Value start = c.Reshape(
      known ? c.Constant(*known, "starts") : c.Cast(c.In(2), DType::kI64),
      firsts);
  Value positions = c.Add(start, NumbersAlong(c, shape.rank(), axis, steps));
  if (circular) {
    positions = c.Op<op::ModScalar>({positions},
                                    {.scalar = static_cast<double>(length)});
  }
  c.Give(0, ScatterInto(c, past, c.BroadcastTo(positions, part), update, axis,
                        ScatterMode::kWrite));
}

}  // namespace mxc::onnx
