// SPDX-License-Identifier: Apache-2.0
// Spectra, windows of signals, determinants, and counts of n-grams.
//
// A transform of few elements is a product with its table of cosines and sines,
// real and imaginary parts in turn; one of many is _contrib_fft.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

#include "frontend/onnx/call.h"
#include "frontend/onnx/tensor_data.h"

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
    return c.Reshape(c.Op("_contrib_fft", {numbers}), Shape{rows, s.n, 2});
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
      c.Op("reverse", {c.SliceAxis(x, 1, 1, 1 + mirrored)}, {{"axis", "(1,)"}});
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
    return c.Reshape(c.Op("dot", {flat, SpectrumTable(c, s, x.type().dtype)}),
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
  const Value y = c.Op("Convolution", {signal, filters},
                       {{"kernel", TupleText({length})},
                        {"stride", TupleText({step})},
                        {"num_filter", std::to_string(bins)},
                        {"no_bias", "True"}});
  const int64_t frames = y.shape()[2];
  c.Give(0, c.Cast(c.Reshape(c.Transpose(y, {0, 2, 1}),
                             Shape{shape[0], frames, s.made, 2}),
                   dtype));
}

namespace {

DType SignalType(Call& c) {
  const DType dtype = c.ElementType("output_datatype", DType::kF32);
  c.Require(dtype != DType::kBool, "output_datatype is BOOL");
  return dtype;
}

// Σ terms[i] · cos(2π i n / N), where N is the size, or one less.
void GiveWindow(Call& c, const std::vector<double>& terms) {
  const bool periodic = c.Flag("periodic", true);
  const DType dtype = SignalType(c);
  const int64_t size = c.NeedInt(0, "size");
  c.Require(size >= 0 && size <= (1 << 24), "its size is {}", size);
  std::byte* to = nullptr;
  Tensor window = Tensor::Allocate({dtype, Shape{size}}, &to);
  const auto turn = static_cast<double>(periodic ? size : size - 1);
  for (int64_t n = 0; n < size; ++n) {
    double value = 0;
    for (size_t i = 0; i < terms.size(); ++i) {
      value +=
          terms[i] * std::cos(2 * std::numbers::pi * static_cast<double>(i) *
                              static_cast<double>(n) / turn);
    }
    c.Require(!std::isnan(value), "a window of one element has no form");
    if (!IsFloat(dtype)) value = std::trunc(value);
    StoreElement(to + n * SizeOf(dtype), dtype, value);
  }
  c.Give(0, std::move(window));
}

}  // namespace

void ImportHannWindow(Call& c) { GiveWindow(c, {0.5, -0.5}); }
void ImportHammingWindow(Call& c) {
  constexpr double kAlpha = 25.0 / 46;
  GiveWindow(c, {kAlpha, kAlpha - 1});
}
void ImportBlackmanWindow(Call& c) { GiveWindow(c, {0.42, -0.5, 0.08}); }

// Triangles over bins of frequencies that are equally far apart in mel.
void ImportMelWeightMatrix(Call& c) {
  const DType dtype = SignalType(c);
  const int64_t bins = c.NeedInt(0, "num_mel_bins");
  const int64_t length = c.NeedInt(1, "dft_length");
  const int64_t rate = c.NeedInt(2, "sample_rate");
  const double low = c.NeedFloat(3, "lower_edge_hertz");
  const double high = c.NeedFloat(4, "upper_edge_hertz");
  c.Require(bins > 0 && bins <= 4096 && length > 0 && length <= (1 << 20) &&
                rate > 0 && low >= 0 && high >= low,
            "{} bins of a transform of {} at {} Hz from {} to {} Hz", bins,
            length, rate, low, high);
  const int64_t rows = length / 2 + 1;
  c.Require(rows * bins <= kMostFilter, "it has {} by {} elements", rows, bins);
  const auto mel = [](double hertz) {
    return 2595 * std::log10(1 + hertz / 700);
  };
  const double first = mel(low);
  const double step = (mel(high) - first) / static_cast<double>(bins + 2);
  std::vector<int64_t> edges;
  for (int64_t i = 0; i < bins + 2; ++i) {
    const double at = first + step * static_cast<double>(i);
    const double hertz = 700 * (std::pow(10, at / 2595) - 1);
    const double bin = std::floor(static_cast<double>(length + 1) * hertz /
                                  static_cast<double>(rate));
    c.Require(bin < static_cast<double>(rows) || i == bins + 1,
              "the frequency {} Hz is beyond half of {} Hz", hertz, rate);
    edges.push_back(
        static_cast<int64_t>(std::min(bin, static_cast<double>(rows))));
  }
  std::byte* to = nullptr;
  Tensor matrix = Tensor::Allocate({dtype, Shape{rows, bins}}, &to);
  for (int64_t i = 0; i < bins; ++i) {
    const int64_t left = edges[i], peak = edges[i + 1], right = edges[i + 2];
    const auto set = [&](int64_t row, double value) {
      if (row >= rows) return;
      if (!IsFloat(dtype)) value = std::trunc(value);
      StoreElement(to + (row * bins + i) * SizeOf(dtype), dtype, value);
    };
    const auto share = [](int64_t part, int64_t whole) {
      return static_cast<double>(part) / static_cast<double>(whole);
    };
    if (peak == left) set(peak, 1);
    for (int64_t j = left; peak > left && j <= peak; ++j) {
      set(j, share(j - left, peak - left));
    }
    for (int64_t j = peak; j < right; ++j) {
      set(j, share(right - j, right - peak));
    }
  }
  c.Give(0, std::move(matrix));
}

void ImportDet(Call& c) {
  const Value given = c.In(0);
  const Shape& shape = given.shape();
  c.Require(shape.rank() >= 2, "its matrix has {} axes", shape.rank());
  const DType dtype = given.type().dtype;
  const Extents batch(shape.dims().begin(), shape.dims().end() - 2);
  const Value det = c.Op("_linalg_det", {c.Cast(given, AccumulateType(dtype))});
  c.Give(0, c.Cast(c.Reshape(det, batch), dtype));
}

void ImportInverse(Call& c) {
  const Value given = c.In(0);
  const DType dtype = given.type().dtype;
  c.Give(0,
         c.Cast(c.Op("_linalg_inverse", {c.Cast(given, AccumulateType(dtype))}),
                dtype));
}

// --- n-grams ----------------------------------------------------------------

namespace {

struct NgramPools {
  // Of each length from 1 on, all numbers in a row.
  std::vector<Extents> pools;
  int64_t least = 1, most = 1, skips = 0;
};

NgramPools NgramPoolsOf(Call& c) {
  NgramPools n;
  n.least = c.Int("min_gram_length");
  n.most = c.Int("max_gram_length");
  n.skips = c.Int("max_skip_count");
  c.Require(!c.HasAttribute("pool_strings"), "its n-grams are strings");
  const Extents pool = c.Ints("pool_int64s").value_or(Extents());
  const Extents starts = c.Ints("ngram_counts").value_or(Extents());
  c.Require(n.least >= 1 && n.most >= n.least && n.most <= 64 && n.skips >= 0 &&
                n.skips <= 64,
            "its n-grams have {} to {} elements, {} skipped", n.least, n.most,
            n.skips);
  c.Require(!starts.empty() && static_cast<int64_t>(starts.size()) >= n.most,
            "it counts n-grams of {} lengths, expected {}", starts.size(),
            n.most);
  for (size_t i = 0; i < starts.size(); ++i) {
    const auto all = static_cast<int64_t>(pool.size());
    const int64_t begin = starts[i];
    const int64_t end = i + 1 < starts.size() ? starts[i + 1] : all;
    const auto length = static_cast<int64_t>(i) + 1;
    c.Require(
        0 <= begin && begin <= end && end <= all && (end - begin) % length == 0,
        "its pool of {} numbers has no n-grams of {} from {} to {}", all,
        length, begin, end);
    n.pools.emplace_back(pool.begin() + begin, pool.begin() + end);
    std::set<Extents> grams;
    for (int64_t at = begin; at < end; at += length) {
      c.Require(
          grams.emplace(pool.begin() + at, pool.begin() + at + length).second,
          "an n-gram stands twice in its pool");
    }
  }
  return n;
}

// How often each n-gram of a pool stands in x [rows, length]: [rows, n-grams].
Value CountsOf(Call& c, Value x, const Extents& pool, int64_t length,
               int64_t skips) {
  const int64_t rows = x.shape()[0], extent = x.shape()[1];
  const auto grams = static_cast<int64_t>(pool.size()) / length;
  Value total = c.Zeros({DType::kF32, Shape{rows, grams}});
  for (int64_t distance = 1; distance <= (length == 1 ? 1 : skips + 1);
       ++distance) {
    const int64_t starts = extent - (length - 1) * distance;
    if (starts < 1) break;
    Value found;
    for (int64_t i = 0; i < length; ++i) {
      Extents wanted;
      for (int64_t g = 0; g < grams; ++g)
        wanted.push_back(pool[g * length + i]);
      const int64_t at = i * distance;
      const Value part =
          c.Reshape(c.SliceAxis(x, 1, at, at + starts), Shape{rows, starts, 1});
      const Value equal =
          c.Op("_npi_equal", {part, c.ConstantInts(wanted, "wanted")});
      found = found ? c.Op("broadcast_logical_and", {found, equal}) : equal;
    }
    total = c.Add(total, c.Sum(c.Cast(found, DType::kF32), {1}));
  }
  return total;
}

}  // namespace

void ImportTfIdfVectorizer(Call& c) {
  enum { kTf, kIdf, kTfIdf };
  const int mode = c.OneOf("mode", {"TF", "IDF", "TFIDF"}, -1);
  c.Require(mode >= 0, "attribute 'mode' is missing");
  const NgramPools n = NgramPoolsOf(c);
  const Extents places = c.Ints("ngram_indexes").value_or(Extents());
  const auto weights = c.Floats("weights");
  int64_t grams = 0;
  for (size_t i = 0; i < n.pools.size(); ++i) {
    grams += static_cast<int64_t>(n.pools[i].size() / (i + 1));
  }
  c.Require(static_cast<int64_t>(places.size()) == grams &&
                (!weights || weights->size() == places.size()),
            "it has {} n-grams, {} places and {} weights", grams, places.size(),
            weights ? weights->size() : 0);
  int64_t size = 0;
  for (const int64_t place : places) {
    c.Require(place >= 0 && place < (1 << 24), "a place is {}", place);
    size = std::max(size, place + 1);
  }
  c.Require(size > 0, "it has no n-grams");
  const Shape& shape = c.ShapeOf(0);
  c.Require(shape.rank() == 1 || shape.rank() == 2,
            "its data have {} axes, expected 1 or 2", shape.rank());
  const int64_t rows = shape.rank() == 2 ? shape[0] : 1;
  const int64_t extent = shape[shape.rank() - 1];
  c.Require(extent > 0, "its data have no elements");
  const Value x = c.Reshape(c.Cast(c.In(0), DType::kI64), Shape{rows, extent});
  // Column `grams` of the counts is for places without an n-gram.
  std::vector<Value> counts;
  for (size_t i = 0; i < n.pools.size(); ++i) {
    const auto length = static_cast<int64_t>(i) + 1;
    const auto own = static_cast<int64_t>(n.pools[i].size()) / length;
    if (own == 0) continue;
    const bool counted = length >= n.least && length <= n.most;
    counts.push_back(counted ? CountsOf(c, x, n.pools[i], length, n.skips)
                             : c.Zeros({DType::kF32, Shape{rows, own}}));
  }
  counts.push_back(c.Zeros({DType::kF32, Shape{rows, 1}}));
  Value all = c.Concat(counts, 1);
  if (mode != kTf) {
    std::vector<float> factors(grams + 1, 1);
    if (weights) std::ranges::copy(*weights, factors.begin());
    const Value factor =
        c.Constant(Tensor::FromFloats(Shape{grams + 1}, factors), "weights");
    if (mode == kIdf) {
      all = c.Cast(c.Op("_npi_greater_scalar", {all}, {{"scalar", "0"}}),
                   DType::kF32);
    }
    all = c.Mul(all, factor);
  }
  Extents from(size, grams);
  for (int64_t g = 0; g < grams; ++g) {
    c.Require(from[places[g]] == grams, "two n-grams have the place {}",
              places[g]);
    from[places[g]] = g;
  }
  const Value y = c.Op("take", {all, c.ConstantInts(from, "places")},
                       {{"axis", "1"}, {"mode", "clip"}});
  c.Give(0, shape.rank() == 2 ? y : c.Reshape(y, Shape{size}));
}

}  // namespace mxc::onnx
