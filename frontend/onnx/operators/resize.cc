// SPDX-License-Identifier: Apache-2.0
// Resize and Upsample: each axis by itself.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "frontend/onnx/operators/resize_list.h"
#include "ir/ops/nn/spatial/bilinear_resize2d.h"
#include "ir/ops/nn/spatial/upsampling.h"
#include "ir/ops/tensor/indexing/take.h"
#include "ir/ops/tensor/linalg/dot.h"
#include "ir/ops/tensor/shape/repeat.h"

namespace mxc::onnx {
namespace {

// --- operators --------------------------------------------------------------

Value ResizeTaken(Call& c, Value x, int axis, const Extents& from) {
  const int64_t in = x.shape()[axis];
  const auto out = static_cast<int64_t>(from.size());
  const int64_t step = out > 1 ? from[1] - from[0] : 1;
  bool progresses = step > 0, repeats = out % in == 0;
  for (int64_t i = 0; i < out; ++i) {
    progresses = progresses && from[i] == from[0] + i * step;
    repeats = repeats && from[i] == i / (out / in);
  }
  if (progresses) {
    Call::Bounds begin(x.shape().rank()), end = begin, by = begin;
    begin[axis] = from[0];
    end[axis] = from.back() + 1;
    by[axis] = step;
    return c.Slice(x, begin, end, by);
  }
  if (repeats) {
    return c.Op<op::Repeat>({x}, {.repeats = out / in, .axis = axis});
  }
  return c.Op<op::Take>({x, c.ConstantInts(from, "places")},
                        {.axis = axis, .mode = IndexMode::kClip});
}

// f32[out, in]
Value ResizeMatrix(Call& c, const ResizeList& list, int64_t in, DType dtype) {
  const auto out = static_cast<int64_t>(list.rows.size());
  c.Require(in <= (int64_t{1} << 24) / out, "{} by {} shares are too many", out,
            in);
  std::vector<float> shares(out * in, 0);
  for (int64_t i = 0; i < out; ++i) {
    for (const ResizeTap& tap : list.rows[i]) {
      shares[i * in + tap.from] += tap.share;
    }
  }
  return c.Cast(c.Constant(Tensor::FromFloats({out, in}, shares), "shares"),
                dtype);
}

Value ResizeProduct(Call& c, Value x, int axis, const ResizeList& list) {
  const int rank = x.shape().rank();
  Extents order(rank);
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[axis], order[rank - 1]);
  const Value turned = c.Transpose(x, order);
  const Value matrix = ResizeMatrix(c, list, x.shape()[axis], x.type().dtype);
  const Value product = c.Op<op::Dot>({turned, matrix}, {.transpose_b = true});
  return c.Transpose(product, order);
}

Value ResizeAlong(Call& c, Value x, int axis, const ResizeList& list) {
  constexpr size_t kMostTaken = 16;
  size_t most = 1;
  bool whole = true;
  for (const ResizeTaps& taps : list.rows) {
    most = std::max(most, taps.size());
    whole = whole && taps.size() == 1 && taps[0].share == 1;
  }
  if (most > kMostTaken) return ResizeProduct(c, x, axis, list);
  Value sum;
  for (size_t k = 0; k < most; ++k) {
    Extents from;
    std::vector<float> shares;
    for (const ResizeTaps& taps : list.rows) {
      from.push_back(taps[std::min(k, taps.size() - 1)].from);
      shares.push_back(k < taps.size() ? taps[k].share : 0);
    }
    const Value taken = ResizeTaken(c, x, axis, from);
    if (whole) return taken;
    Extents line(x.shape().rank(), 1);
    line[axis] = static_cast<int64_t>(shares.size());
    const Value share = c.Cast(
        c.Constant(Tensor::FromFloats(line, shares), "shares"), x.type().dtype);
    const Value part = c.Mul(taken, share);
    sum = k == 0 ? part : c.Add(sum, part);
  }
  return sum;
}

// Returns whether the list is that of _contrib_BilinearResize2D, bit for bit.
bool IsBilinearResize(const ResizeList& list, int64_t in, bool corners) {
  const auto out = static_cast<int64_t>(list.rows.size());
  const auto ratio = [](int64_t a, int64_t b) {
    return static_cast<float>(static_cast<double>(a) / static_cast<double>(b));
  };
  for (int64_t i = 0; i < out; ++i) {
    const auto at = static_cast<float>(i);
    float x = 0;
    if (out > 1) {
      x = corners ? at * ratio(in - 1, out - 1)
                  : std::max((at + 0.5F) * ratio(in, out) - 0.5F, 0.0F);
    }
    const float floor = std::floor(x), next = x - floor;
    const auto low = static_cast<int64_t>(floor);
    ResizeTaps expected;
    if (next < 1 && next != 0 && low + 1 < in) {
      expected = {{low, 1 - next}, {low + 1, next}};
    } else {
      expected = {{std::min(low, in - 1), 1}};
    }
    if (list.rows[i] != expected) return false;
  }
  return true;
}

bool ResizesImages(const Value& x, const std::vector<ResizeAxis>& axes) {
  constexpr int64_t kMost = 10000;
  return x.shape().rank() == 4 && axes.size() == 2 && axes[0].axis == 2 &&
         axes[1].axis == 3 && axes[0].out <= kMost && axes[1].out <= kMost;
}

// By one operator, where there is one.
Value ResizedImages(Call& c, Value x, const std::vector<ResizeAxis>& axes,
                    const std::vector<ResizeList>& lists) {
  if (!ResizesImages(x, axes)) return {};
  const ResizeAxis &h = axes[0], &w = axes[1];
  const auto repeats = [](const ResizeAxis& a, const ResizeList& list) {
    for (int64_t i = 0; i < a.out; ++i) {
      if (list.rows[i] != ResizeTaps{{i / (a.out / a.in), 1}}) return false;
    }
    return true;
  };
  if (h.out % h.in == 0 && h.in * w.out == w.in * h.out &&
      h.out / h.in <= 1000 && repeats(h, lists[0]) && repeats(w, lists[1])) {
    return c.Op<op::UpSampling>({x}, {.scale = h.out / h.in,
                                      .sample_type = UpSampleType::kNearest,
                                      .num_args = 1});
  }
  if (!IsFloat(x.type().dtype)) return {};
  for (const bool corners : {false, true}) {
    if (!IsBilinearResize(lists[0], h.in, corners) ||
        !IsBilinearResize(lists[1], w.in, corners)) {
      continue;
    }
    return c.Op<op::BilinearResize2D>(
        {x}, {.height = h.out, .width = w.out, .align_corners = corners});
  }
  return {};
}

void GiveResized(Call& c, const ResizeRule& rule,
                 std::vector<ResizeAxis> axes) {
  const Shape shape = c.ShapeOf(0);
  Extents dims = shape.dims();
  for (const ResizeAxis& a : axes) dims[a.axis] = a.out;
  if (Call::IsEmpty(dims)) return c.GiveEmpty(c.DTypeOf(0), dims);
  const DType dtype = c.DTypeOf(0);
  if (const auto unfit = Unfit({dtype, Shape(dims)})) {
    c.Refuse("its result has {}", *unfit);
  }
  c.Require(rule.by == ResizeBy::kNearest || IsFloat(dtype),
            "{} are interpolated, expected floats", ShortName(dtype));
  std::erase_if(axes, [&](const ResizeAxis& a) {
    return a.in == a.out && a.scale == 1 &&
           (rule.at != ResizeAt::kTfCropAndResize ||
            (a.begin == 0 && a.end == 1));
  });
  if (axes.empty()) return c.Give(0, c.operand(0));
  std::vector<ResizeList> lists;
  for (const ResizeAxis& a : axes) lists.push_back(ResizeListOf(c, rule, a));
  Value x = c.In(0);
  // Halves have too few digits for the shares.
  if (rule.by != ResizeBy::kNearest) x = c.Cast(x, AccumulateType(dtype));
  if (const Value resized = ResizedImages(c, x, axes, lists)) {
    x = resized;
  } else {
    // What shrinks most leaves the least to do for the others.
    std::vector<size_t> order(axes.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [&](size_t k) {
      return static_cast<double>(axes[k].out) / static_cast<double>(axes[k].in);
    });
    for (const size_t k : order) {
      x = ResizeAlong(c, x, axes[k].axis, lists[k]);
    }
  }
  for (size_t k = 0; k < axes.size(); ++k) {
    const auto& outside = lists[k].outside;
    if (std::ranges::count(outside, true) == 0) continue;
    std::vector<float> mask(outside.begin(), outside.end());
    Extents line(shape.rank(), 1);
    line[axes[k].axis] = axes[k].out;
    x = c.Op<op::NpiWhere>(
        {c.Cast(c.Constant(Tensor::FromFloats(line, mask), "outside"),
                DType::kBool),
         c.ScalarLike(rule.extrapolation, x), x});
  }
  c.Give(0, c.Cast(x, dtype));
}

// --- what a file says -------------------------------------------------------

constexpr int64_t kMostResized = int64_t{1} << 40;  // of an axis

std::vector<float> ResizeFloats(Call& c, int i, std::string_view what) {
  std::vector<float> values;
  if (!c.Has(i)) return values;
  const Tensor tensor = c.Need(i, what);
  c.Require(tensor.shape().elements() <= 64, "its {} has {} elements", what,
            tensor.shape().elements());
  for (int64_t k = 0; k < tensor.shape().elements(); ++k) {
    values.push_back(static_cast<float>(tensor.At(k)));
  }
  return values;
}

void SetScales(Call& c, std::vector<ResizeAxis>& axes,
               const std::vector<float>& scales) {
  c.Require(scales.size() == axes.size(), "it has {} scales for {} axes",
            scales.size(), axes.size());
  for (size_t k = 0; k < axes.size(); ++k) {
    ResizeAxis& a = axes[k];
    a.scale = scales[k];
    c.Require(a.scale > 0 && std::isfinite(a.scale), "a scale is {}", a.scale);
    const float out = std::floor(static_cast<float>(a.in) * a.scale);
    c.Require(out >= 0 && out < static_cast<float>(kMostResized),
              "axis {} of {} elements becomes one of {}", a.axis, a.in, out);
    a.out = static_cast<int64_t>(out);
  }
}

void SetSizes(Call& c, std::vector<ResizeAxis>& axes, const Extents& sizes,
              ResizePolicy policy) {
  c.Require(sizes.size() == axes.size(), "it has {} sizes for {} axes",
            sizes.size(), axes.size());
  float best = 0;
  for (size_t k = 0; k < axes.size(); ++k) {
    ResizeAxis& a = axes[k];
    c.Require(sizes[k] >= 0 && sizes[k] < kMostResized && a.in > 0,
              "axis {} of {} elements becomes one of {}", a.axis, a.in,
              sizes[k]);
    a.out = sizes[k];
    a.scale = static_cast<float>(a.out) / static_cast<float>(a.in);
    const bool better =
        policy == ResizePolicy::kNotLarger ? a.scale < best : a.scale > best;
    if (k == 0 || better) best = a.scale;
  }
  if (policy == ResizePolicy::kStretch) return;
  for (ResizeAxis& a : axes) {
    a.scale = best;
    const float out = std::round(best * static_cast<float>(a.in));
    c.Require(out < static_cast<float>(kMostResized), "it is too large");
    a.out = static_cast<int64_t>(out);
  }
}

std::vector<ResizeAxis> ResizeAxesOf(Call& c, const Extents& numbers) {
  std::vector<ResizeAxis> axes;
  for (const int64_t axis : numbers) {
    axes.push_back({.axis = c.Axis(axis, c.RankOf(0))});
    axes.back().in = axes.back().out = c.ShapeOf(0)[axes.back().axis];
  }
  return axes;
}

Extents ResizeAllAxes(Call& c) {
  Extents axes(c.RankOf(0));
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

ResizeRule ResizeRuleOf(Call& c) {
  ResizeRule rule;
  rule.by =
      static_cast<ResizeBy>(c.OneOf("mode", {"nearest", "linear", "cubic"}, 0));
  rule.at = static_cast<ResizeAt>(
      c.OneOf("coordinate_transformation_mode",
              {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",
               "align_corners", "asymmetric", "tf_half_pixel_for_nn",
               "tf_crop_and_resize"},
              0));
  rule.round = static_cast<ResizeRound>(
      c.OneOf("nearest_mode",
              {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}, 0));
  rule.antialias = c.Flag("antialias");
  rule.exclude_outside = c.Flag("exclude_outside") &&
                         (rule.by == ResizeBy::kCubic || rule.antialias);
  rule.cubic_a = static_cast<float>(c.Float("cubic_coeff_a", -0.75));
  rule.extrapolation = c.Float("extrapolation_value", 0);
  return rule;
}

// From the first element on, as it was before version 11: the nearest is the one
// before where an axis grows, the one behind where it shrinks.
ResizeRule ResizeOldRule(Call& c) {
  ResizeRule rule;
  const int mode = c.OneOf("mode", {"nearest", "linear", "bilinear"}, 0);
  rule.by = mode == 0 ? ResizeBy::kNearest : ResizeBy::kLinear;
  rule.at = ResizeAt::kAsymmetric;
  rule.round = ResizeRound::kOld;
  return rule;
}

void GiveScaled(Call& c, const std::vector<float>& scales) {
  const ResizeRule rule = ResizeOldRule(c);
  std::vector<ResizeAxis> axes = ResizeAxesOf(c, ResizeAllAxes(c));
  SetScales(c, axes, scales);
  GiveResized(c, rule, std::move(axes));
}

}  // namespace

void ImportResize(Call& c) {
  const ResizeRule rule = ResizeRuleOf(c);
  const auto policy = static_cast<ResizePolicy>(c.OneOf(
      "keep_aspect_ratio_policy", {"stretch", "not_larger", "not_smaller"}, 0));
  const Extents numbers = c.Ints("axes").value_or(ResizeAllAxes(c));
  (void)c.Axes(numbers, c.RankOf(0));
  std::vector<ResizeAxis> axes = ResizeAxesOf(c, numbers);
  const bool crops = rule.at == ResizeAt::kTfCropAndResize;
  if (crops) {
    const auto roi = ResizeFloats(c, 1, "roi");
    c.Require(roi.size() == 2 * axes.size(),
              "its roi has {} elements, expected two for each of {} axes",
              roi.size(), axes.size());
    for (size_t k = 0; k < axes.size(); ++k) {
      axes[k].begin = roi[k];
      axes[k].end = roi[k + axes.size()];
      c.Require(std::isfinite(roi[k]) && std::isfinite(axes[k].end),
                "its roi is not finite");
    }
  }
  const auto scales = ResizeFloats(c, 2, "scales");
  Extents sizes = c.Has(3) ? c.NeedInts(3, "sizes") : Extents();
  if (!axes.empty() && axes[0].axis == 0) sizes = c.Rebatched(0, sizes);
  c.Require(scales.empty() != sizes.empty(),
            "it has {} scales and {} sizes, expected one of them",
            scales.size(), sizes.size());
  if (sizes.empty()) {
    SetScales(c, axes, scales);
  } else {
    SetSizes(c, axes, sizes, policy);
  }
  GiveResized(c, rule, std::move(axes));
}

void ImportResizeOfScales(Call& c) {
  GiveScaled(c, ResizeFloats(c, 1, "scales"));
}
void ImportUpsample(Call& c) { GiveScaled(c, ResizeFloats(c, 1, "scales")); }
void ImportUpsampleByAttribute(Call& c) {
  const auto scales = c.Floats("scales");
  c.Require(scales.has_value(), "attribute 'scales' is missing");
  GiveScaled(c, *scales);
}

}  // namespace mxc::onnx
