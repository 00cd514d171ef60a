// SPDX-License-Identifier: Apache-2.0
// Spectra. A transform of few elements is a product with its table of cosines and
// sines, real and imaginary parts in turn; one of many is _contrib_fft.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "frontend/onnx/call.h"
#include "ir/ops/nn/convolution/convolution_geometry.h"
#include "ir/ops/tensor/shape/reverse.h"

namespace mxc::onnx {
namespace {

constexpr int64_t kMostTable = int64_t{1} << 21;   // numbers, of a transform
constexpr int64_t kMostFilter = int64_t{1} << 24;  // likewise, of frames

// cos(2π j k / n) and its sine, which are exact at multiples of a quarter.
struct Angle {
  double cos, sin;
};
Angle AngleOf(int64_t j, int64_t k, int64_t n) {
  const int64_t turn = j % n * (k % n) % n;  // below 2^48: n is below 2^24
  if (4 * turn % n == 0) {
    constexpr Angle kQuarters[] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
    return kQuarters[4 * turn / n];
  }
  const double angle =
      2 * std::numbers::pi * static_cast<double>(turn) / static_cast<double>(n);
  return {std::cos(angle), std::sin(angle)};
}

// How one transform goes from `given` numbers of `parts` (1: real, 2: complex)
// to `made` numbers.
struct Spectrum {
  int64_t n = 0;
  int64_t given = 0, made = 0;
  int parts = 1;
  bool inverse = false;
  bool to_real = false;  // of one half of the frequencies
};

// element(j, part, k, part of the result)
double TableEntry(const Spectrum& s, int64_t j, int part, int64_t k,
                  int result) {
  const Angle a = AngleOf(j, k, s.n);
  const double sin = s.inverse ? a.sin : -a.sin;  // of e^(∓iφ)
  // (re + i im)(cos + i sin)
  double value = 0;
  if (result == 0) {
    value = part == 0 ? a.cos : -sin;
  } else {
    value = part == 0 ? sin : a.cos;
  }
  if (s.inverse) value /= static_cast<double>(s.n);
  const bool mirrored = s.to_real && j != 0 && 2 * j != s.n;
  return mirrored ? 2 * value : value;
}

// [given · parts, made · results] in the type of the signal.
Value SpectrumTable(Call& c, const Spectrum& s, DType dtype) {
  const int results = s.to_real ? 1 : 2;
  std::byte* to = nullptr;
  Tensor table = Tensor::Allocate(
      {dtype, Shape{s.given * s.parts, s.made * results}}, &to);
  for (int64_t j = 0; j < s.given; ++j) {
    for (int part = 0; part < s.parts; ++part) {
      for (int64_t k = 0; k < s.made; ++k) {
        for (int result = 0; result < results; ++result) {
          StoreElement(to, dtype, TableEntry(s, j, part, k, result));
          to += SizeOf(dtype);
        }
      }
    }
  }
  return c.Constant(std::move(table), "table");
}

// x [rows, n, parts] of more elements, to [rows, n, 2].
Value FastTransform(Call& c, Value x, const Spectrum& s) {
  const int64_t rows = x.shape()[0];
  const auto transformed = [&](int part) {
    const Value numbers =
        c.Reshape(c.SliceAxis(x, 2, part, part + 1), Shape{rows, s.n});
    return c.Reshape(c.Op<op::ContribFft>({numbers}), Shape{rows, s.n, 2});
  };
  const auto part_of = [&](Value y, int part) {
    return c.SliceAxis(y, 2, part, part + 1);
  };
  const Value first = transformed(0);
  Value re = part_of(first, 0), im = part_of(first, 1);
  if (s.parts == 2) {
    // The inverse is the transform of the conjugate, conjugated.
    const Value second = transformed(1);
    const Value a = part_of(second, 1), b = part_of(second, 0);
    re = s.inverse ? c.Add(re, a) : c.Sub(re, a);
    im = s.inverse ? c.Sub(im, b) : c.Add(im, b);
  }
  if (s.inverse) {
    const double count = static_cast<double>(s.n);
    re = c.Div(re, count);
    im = c.Div(c.Neg(im), count);
  }
  Value y = c.Concat({re, im}, 2);
  return s.made == s.n ? y : c.SliceAxis(y, 1, 0, s.made);
}

// The frequencies that are the mirror of the given ones, behind them.
Value WithMirror(Call& c, Value x, const Spectrum& s) {
  const int64_t mirrored = s.n - s.given;
  if (mirrored <= 0) return x;
  const Value back =
      c.Op<op::Reverse>({c.SliceAxis(x, 1, 1, 1 + mirrored)}, {.axis = {1}});
  const Value conjugate = c.Concat(
      {c.SliceAxis(back, 2, 0, 1), c.Neg(c.SliceAxis(back, 2, 1, 2))}, 2);
  return c.Concat({x, conjugate}, 1);
}

// Of which _contrib_fft makes no matrices.
bool HasLargeFactor(int64_t n) {
  for (int64_t factor = 2; factor <= 1024 && n > 1; ++factor) {
    while (n % factor == 0) n /= factor;
  }
  return n > 1;
}

// x [rows, given, parts] → [rows, made, 2 or 1]
Value Transformed(Call& c, Value x, const Spectrum& s) {
  const int64_t rows = x.shape()[0];
  const int results = s.to_real ? 1 : 2;
  const int64_t size = s.given * s.parts * s.made * results;
  if (size <= (HasLargeFactor(s.n) ? kMostFilter : kMostTable)) {
    const Value flat = c.Reshape(x, Shape{rows, s.given * s.parts});
    return c.Reshape(c.Op<op::Dot>({flat, SpectrumTable(c, s, x.type().dtype)}),
                     Shape{rows, s.made, results});
  }
  if (!s.to_real) return FastTransform(c, x, s);
  Spectrum whole = s;
  whole.given = whole.made = s.n;
  whole.to_real = false;
  return c.SliceAxis(FastTransform(c, WithMirror(c, x, s), whole), 2, 0, 1);
}

// The first `count` entries along an axis, zeros where there are fewer.
Value CutOrPadded(Call& c, Value x, int axis, int64_t count) {
  Extents dims = x.shape().dims();
  const int64_t extent = dims[axis];
  if (extent > count) return c.SliceAxis(x, axis, 0, count);
  if (extent == count) return x;
  dims[axis] = count - extent;
  return c.Concat({x, c.Zeros({x.type().dtype, Shape(dims)})}, axis);
}

void TransformAlong(Call& c, int64_t asked_axis) {
  const bool inverse = c.Flag("inverse"), onesided = c.Flag("onesided");
  const Shape& shape = c.ShapeOf(0);
  const int rank = shape.rank();
  c.Require(rank >= 2 && (shape[rank - 1] == 1 || shape[rank - 1] == 2),
            "its data have the shape {}, expected 1 or 2 along the last axis",
            ToString(shape));
  const int axis = c.Axis(asked_axis, rank);
  c.Require(axis != rank - 1, "axis {} is that of real and imaginary parts",
            asked_axis);
  const DType dtype = c.DTypeOf(0);
  Value x = c.Cast(c.In(0), AccumulateType(dtype));
  Spectrum s;
  s.parts = static_cast<int>(shape[rank - 1]);
  s.inverse = inverse;
  s.to_real = inverse && onesided;
  c.Require(!onesided || s.parts == (inverse ? 2 : 1),
            "it is onesided and of {} parts", s.parts);
  int64_t extent = x.shape()[axis];
  s.n = s.to_real ? 2 * (extent - 1) : extent;
  if (c.Has(1)) s.n = c.NeedInt(1, "dft_length");
  c.Require(s.n > 0 && s.n < (1 << 24), "its length is {}", s.n);
  const int64_t half = s.n / 2 + 1;
  s.given = s.to_real ? half : s.n;
  s.made = onesided && !inverse ? half : s.n;
  x = CutOrPadded(c, x, axis, s.given);
  // [rows, given, parts]
  Extents order;
  for (int i = 0; i < rank - 1; ++i) {
    if (i != axis) order.push_back(i);
  }
  order.push_back(axis);
  order.push_back(rank - 1);
  x = c.Transpose(x, order);
  Extents moved = x.shape().dims();
  const int64_t rows = x.shape().elements() / (s.given * s.parts);
  Value y = Transformed(c, c.Reshape(x, Shape{rows, s.given, s.parts}), s);
  moved[rank - 2] = s.made;
  moved[rank - 1] = s.to_real ? 1 : 2;
  y = c.Reshape(y, moved);
  Extents back(rank, 0);
  for (int i = 0; i < rank; ++i) back[order[i]] = i;
  c.Give(0, c.Cast(c.Transpose(y, back), dtype));
}

}  // namespace

void ImportDFTByAttribute(Call& c) { TransformAlong(c, c.Int("axis", 1)); }
void ImportDFT(Call& c) {
  TransformAlong(c, c.Has(2) ? c.NeedInt(2, "axis") : -2);
}

// A convolution whose filters are the frequencies.
void ImportSTFT(Call& c) {
  const bool onesided = c.Flag("onesided", true);
  const Shape& shape = c.ShapeOf(0);
  c.Require(shape.rank() == 3 && (shape[2] == 1 || shape[2] == 2),
            "its signal has the shape {}, expected [batch, length, 1 or 2]",
            ToString(shape));
  const int64_t step = c.NeedInt(1, "frame_step");
  int64_t length = shape[1];
  if (c.Has(2)) {
    c.Require(c.RankOf(2) == 1, "its window has {} axes, expected one",
              c.RankOf(2));
    length = c.ShapeOf(2)[0];
  }
  if (c.Has(3)) {
    const int64_t asked = c.NeedInt(3, "frame_length");
    c.Require(!c.Has(2) || asked == length,
              "frame_length is {}, its window has {} elements", asked, length);
    length = asked;
  }
  c.Require(step > 0 && step < (1 << 30) && length > 0 && length <= shape[1],
            "frames of {} every {} do not fit a signal of {}", length, step,
            shape[1]);
  const int parts = static_cast<int>(shape[2]);
  c.Require(!onesided || parts == 1, "it is onesided and its signal complex");
  const Spectrum s{.n = length,
                   .given = length,
                   .made = onesided ? length / 2 + 1 : length,
                   .parts = parts};
  c.Require(length < (1 << 16) && length * parts * s.made * 2 <= kMostFilter,
            "frames of {} are too long", length);
  const DType dtype = c.DTypeOf(0), wide = AccumulateType(dtype);
  // [length, parts, bins · 2] → [bins · 2, parts, length]
  const int64_t bins = s.made * 2;
  Value filters =
      c.Reshape(SpectrumTable(c, s, wide), Shape{length, parts, bins});
  filters = c.Transpose(filters, {2, 1, 0});
  if (c.Has(2)) filters = c.Mul(filters, c.Cast(c.In(2), wide));
  const Value signal = c.Transpose(c.Cast(c.In(0), wide), {0, 2, 1});
  ConvolutionAttrs attrs;
  attrs.kernel = {length};
  attrs.stride = {step};
  attrs.num_filter = bins;
  attrs.no_bias = true;
  const Value y = c.Op<op::Convolution>({signal, filters}, attrs);
  const int64_t frames = y.shape()[2];
  c.Give(0, c.Cast(c.Reshape(c.Transpose(y, {0, 2, 1}),
                             Shape{shape[0], frames, s.made, 2}),
                   dtype));
}

}  // namespace mxc::onnx
