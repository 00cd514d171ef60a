// SPDX-License-Identifier: Apache-2.0
// Pools.
#include <algorithm>

#include "frontend/onnx/operators/windows.h"
#include "ir/ops/nn/pooling/pooling.h"
#include "ir/ops/numpy/reduction/np_reduction.h"
#include "ir/ops/tensor/elementwise/scalar.h"

namespace mxc::onnx {
namespace {

constexpr int64_t kMostTaps = 1024;  // of a window that is written out

// Pads behind the data so that the last window ends there; negative ones cut.
Extents AfterLast(const Windows& w, const Shape& x) {
  Extents after;
  for (int d = 0; d < w.rank(); ++d) {
    after.push_back((w.positions[d] - 1) * w.stride[d] + w.span(d) -
                    w.before[d] - x[d + 2]);
  }
  return after;
}

bool RoundsDown(const Windows& w, const Shape& x) {
  for (int d = 0; d < w.rank(); ++d) {
    const int64_t room = x[d + 2] + w.before[d] + w.after[d] - w.span(d);
    if (w.positions[d] != room / w.stride[d] + 1) return false;
  }
  return true;
}

Value Pool(Call& c, Value x, const Windows& w, PoolType type,
           const Extents& pad, bool counts_pads = true) {
  return c.Op<op::Pooling>({x}, {.kernel = w.kernel,
                                 .stride = w.stride,
                                 .pad = pad,
                                 .pool_type = type,
                                 .count_include_pad = counts_pads});
}

// Calls `tap` with the cells at each place of the window, in row-major order, of
// data that have their pads.
template <class Tap>
void ForTaps(Call& c, Value x, const Windows& w, Tap tap) {
  int64_t taps = 1;
  for (const int64_t size : w.kernel) taps *= std::min(size, kMostTaps + 1);
  c.Require(taps <= kMostTaps,
            "a window of {} cells with dilations, or of "
            "integers, is not supported",
            taps);
  for (int64_t t = 0; t < taps; ++t) {
    Call::Bounds begin(2), end = begin, step = begin;
    int64_t rest = t;
    Extents place(w.rank());
    for (int d = w.rank() - 1; d >= 0; --d) {
      place[d] = rest % w.kernel[d] * w.dilation[d];
      rest /= w.kernel[d];
    }
    for (int d = 0; d < w.rank(); ++d) {
      begin.emplace_back(place[d]);
      end.emplace_back(place[d] + (w.positions[d] - 1) * w.stride[d] + 1);
      step.emplace_back(w.stride[d]);
    }
    tap(c.Slice(x, begin, end, step));
  }
}

// Pads count as 0.
Value SumOfWindows(Call& c, Value x, const Windows& w) {
  x = PadAround(c, x, w.before, AfterLast(w, x.shape()), 0);
  if (!w.dilated() && w.rank() <= 3) {
    return Pool(c, x, w, PoolType::kSum, Extents(w.rank(), 0));
  }
  Value sum;
  ForTaps(c, x, w, [&](Value tap) { sum = sum ? c.Add(sum, tap) : tap; });
  return sum;
}

double LeastOf(DType dtype) {
  return static_cast<double>(BoundOf(dtype, /*greatest=*/false));
}

Extents KernelShape(Call& c) {
  const auto kernel = c.Ints("kernel_shape");
  c.Require(kernel.has_value(), "attribute 'kernel_shape' is missing");
  return *kernel;
}

// The place of each cell in the whole of the data, or -1 where it is a pad; of
// the shape [N, C, padded extents…].
Value Places(Call& c, const Shape& x, const Windows& w, bool column_major) {
  Extents dims = x.dims();
  Extents strides(x.rank(), 1);
  for (int axis = x.rank() - 2; axis >= 0; --axis) {
    strides[axis] = strides[axis + 1] * x[axis + 1];
  }
  if (column_major) {
    int64_t stride = 1;
    for (int axis = 2; axis < x.rank(); ++axis) {
      strides[axis] = stride;
      stride *= x[axis];
    }
  }
  Value sum;
  for (int axis = 0; axis < x.rank(); ++axis) {
    Extents line(x.rank(), 1);
    line[axis] = x[axis];
    c.RequireFew(x[axis]);
    Extents numbers;
    for (int64_t i = 0; i < x[axis]; ++i) numbers.push_back(i * strides[axis]);
    const Value part = c.Reshape(c.ConstantInts(numbers, "places"), line);
    sum = axis == 0 ? part : c.Add(sum, part);
  }
  return PadAround(c, sum, w.before, AfterLast(w, x), -1);
}

void MaxWithPlaces(Call& c, const Windows& w, bool column_major) {
  const Value data = c.In(0);
  const double least = LeastOf(data.type().dtype);
  const Value x =
      PadAround(c, data, w.before, AfterLast(w, data.shape()), least);
  std::vector<Value> places;
  ForTaps(c, Places(c, data.shape(), w, column_major), w,
          [&](Value tap) { places.push_back(tap); });
  Value most, place;
  size_t next = 0;
  ForTaps(c, x, w, [&](Value tap) {
    const Value at = places[next++];
    if (!most) {
      most = tap;
      place = at;
      return;
    }
    // A pad never wins, and the first of equal ones does.
    const Value better = c.Op<op::BroadcastLogicalOr>(
        {c.Op<op::NpiGreater>({tap, most}),
         c.Op<op::BroadcastLogicalAnd>(
             {c.Op<op::NpiLessScalar>({place}, {.scalar = 0}),
              c.Op<op::NpiGreaterEqualScalar>({at}, {.scalar = 0})})});
    place = c.Op<op::NpiWhere>({better, at, place});
    most = c.Op<op::NpiWhere>({better, tap, most});
  });
  c.Give(0, most);
  c.Give(1, place);
}

}  // namespace

void ImportMaxPool(Call& c) {
  const Windows w = WindowsOf(c, KernelShape(c), /*pools=*/true);
  const bool column_major = c.Flag("storage_order");
  if (c.Wants(1)) return MaxWithPlaces(c, w, column_major);
  Value x = c.In(0);
  const DType dtype = x.type().dtype;
  const bool plain = w.symmetric() && RoundsDown(w, x.shape());
  if (IsFloat(dtype) && !w.dilated() && w.rank() <= 3) {
    if (plain) return c.Give(0, Pool(c, x, w, PoolType::kMax, w.before));
    x = PadAround(c, x, w.before, AfterLast(w, x.shape()), LeastOf(dtype));
    return c.Give(0, Pool(c, x, w, PoolType::kMax, Extents(w.rank(), 0)));
  }
  x = PadAround(c, x, w.before, AfterLast(w, x.shape()), LeastOf(dtype));
  Value most;
  ForTaps(c, x, w,
          [&](Value tap) { most = most ? c.Maximum(most, tap) : tap; });
  c.Give(0, most);
}

namespace {

// How many cells of each window along the axis count, beside [N, C, extents…].
Value CellsThatCount(Call& c, const Windows& w, const Shape& shape, int d,
                     bool pads_count) {
  const int64_t low = pads_count ? -w.before[d] : 0;
  const int64_t high = shape[d + 2] + (pads_count ? w.after[d] : 0);
  c.RequireFew(w.positions[d]);
  std::vector<float> cells;
  for (int64_t i = 0; i < w.positions[d]; ++i) {
    const int64_t first = i * w.stride[d] - w.before[d];
    const int64_t begin = RoundUp(low - first, w.dilation[d]);
    const int64_t end =
        std::min(w.kernel[d], RoundUp(high - first, w.dilation[d]));
    cells.push_back(static_cast<float>(std::max<int64_t>(1, end - begin)));
  }
  Extents line(shape.rank(), 1);
  line[d + 2] = w.positions[d];
  return c.Constant(Tensor::FromFloats(line, cells), "cells");
}

}  // namespace

// Windows that are cut at the end, or lie over pads of two sizes: their sum by
// how many cells count, which is known now.
Value AveragePooled(Call& c, Value x) {
  const Windows w = WindowsOf(c, KernelShape(c), /*pools=*/true);
  const bool pads_count = c.Flag("count_include_pad");
  const Shape shape = x.shape();
  if (w.symmetric() && RoundsDown(w, shape) && !w.dilated() && w.rank() <= 3) {
    return Pool(c, x, w, PoolType::kAvg, w.before, pads_count);
  }
  // A sum may be more than a half can be.
  const DType dtype = x.type().dtype, wide = AccumulateType(dtype);
  const Value sum = SumOfWindows(c, c.Cast(x, wide), w);
  Value cells = CellsThatCount(c, w, shape, 0, pads_count);
  for (int d = 1; d < w.rank(); ++d) {
    cells = c.Mul(cells, CellsThatCount(c, w, shape, d, pads_count));
  }
  return c.Cast(c.Div(sum, c.Cast(cells, wide)), dtype);
}

void ImportAveragePool(Call& c) { c.Give(0, AveragePooled(c, c.In(0))); }

namespace {

template <class Reduction>
void GlobalPool(Call& c, PoolType type) {
  const Value x = c.In(0);
  const int rank = x.shape().rank();
  c.Require(rank >= 3, "data has {} axes, expected at least 3", rank);
  if (rank <= 5) {
    return c.Give(0, c.Op<op::Pooling>({x}, {.kernel = Extents(rank - 2, 1),
                                             .pool_type = type,
                                             .global_pool = true}));
  }
  const Extents axes = AxesFrom(2, rank);
  c.Give(0, c.Op<Reduction>({x}, {.axis = axes, .keepdims = true}));
}

}  // namespace

void ImportGlobalAveragePool(Call& c) {
  GlobalPool<op::NpiMean>(c, PoolType::kAvg);
}
void ImportGlobalMaxPool(Call& c) { GlobalPool<op::NpMax>(c, PoolType::kMax); }

namespace {

// (Σ |x|ᵖ)^(1/p); p = 1, 2, ….
Value LpPowers(Call& c, Value x, int64_t p) {
  if (p == 1) return c.Abs(x);
  if (p == 2) return c.Square(x);
  return c.Op<op::PowerScalar>({c.Abs(x)}, {.scalar = static_cast<double>(p)});
}
Value LpRoot(Call& c, Value sum, int64_t p) {
  if (p == 1) return sum;
  if (p == 2) return c.Sqrt(sum);
  return c.Op<op::PowerScalar>({sum}, {.scalar = 1.0 / static_cast<double>(p)});
}

int64_t LpExponent(Call& c) {
  const int64_t p = c.Int("p", 2);
  c.Require(p >= 1 && p <= 1 << 20, "p is {}, expected at least 1", p);
  return p;
}

}  // namespace

void ImportLpPool(Call& c) {
  const int64_t p = LpExponent(c);
  const Windows w = WindowsOf(c, KernelShape(c), /*pools=*/true);
  const Value x = c.In(0);
  c.Give(0, LpRoot(c, SumOfWindows(c, LpPowers(c, x, p), w), p));
}

void ImportGlobalLpPool(Call& c) {
  const int64_t p = LpExponent(c);
  const Value x = c.In(0);
  c.Require(x.shape().rank() >= 3, "data has {} axes, expected at least 3",
            x.shape().rank());
  const Value sum = c.Sum(LpPowers(c, x, p), AxesFrom(2, x.shape().rank()),
                          /*keepdims=*/true);
  c.Give(0, LpRoot(c, sum, p));
}

}  // namespace mxc::onnx
