// SPDX-License-Identifier: Apache-2.0
#include "frontend/onnx/operators/resize_list.h"

#include <algorithm>
#include <cmath>

namespace mxc::onnx {
namespace {

// --- coordinates ------------------------------------------------------------

float ResizeCoordinate(const ResizeRule& rule, const ResizeAxis& a, int64_t i) {
  const auto x = static_cast<float>(i);
  const auto in = static_cast<float>(a.in), out = static_cast<float>(a.out);
  switch (rule.at) {
    case ResizeAt::kHalfPixel:
      return (x + 0.5F) / a.scale - 0.5F;
    case ResizeAt::kHalfPixelSymmetric: {
      const float adjustment = out / (a.scale * in);
      const float offset = in / 2 * (1 - adjustment);
      const double cell = static_cast<double>(x + 0.5F) / a.scale;
      return static_cast<float>(offset + cell - 0.5);
    }
    case ResizeAt::kPytorchHalfPixel:
      return a.out > 1 ? (x + 0.5F) / a.scale - 0.5F : 0.0F;
    case ResizeAt::kAlignCorners:
      return a.out == 1 ? 0.0F : x * (in - 1) / (out - 1);
    case ResizeAt::kAsymmetric:
      return x / a.scale;
    case ResizeAt::kTfHalfPixelForNn:
      return (x + 0.5F) / a.scale;
    case ResizeAt::kTfCropAndResize:
      break;
  }
  if (a.out == 1) return 0.5F * (a.begin + a.end) * (in - 1);
  return a.begin * (in - 1) + x * (a.end - a.begin) * (in - 1) / (out - 1);
}

int64_t ResizeNearest(ResizeRound round, bool shrinks, float x) {
  const float floor = std::floor(x);
  if (round == ResizeRound::kOld) {
    round = shrinks ? ResizeRound::kCeil : ResizeRound::kFloor;
  }
  switch (round) {
    case ResizeRound::kPreferFloor:
      return static_cast<int64_t>(x - floor == 0.5F ? floor : std::round(x));
    case ResizeRound::kPreferCeil:
      return static_cast<int64_t>(x - floor == 0.5F ? floor + 1
                                                    : std::round(x));
    case ResizeRound::kFloor:
      return static_cast<int64_t>(floor);
    case ResizeRound::kCeil:
    case ResizeRound::kOld:
      break;
  }
  return static_cast<int64_t>(std::ceil(x));
}

// --- shares -----------------------------------------------------------------

// Of an element so far away.
float ResizeShare(const ResizeRule& rule, float distance) {
  const float x = std::abs(distance), a = rule.cubic_a;
  if (rule.by == ResizeBy::kLinear) return std::max(0.0F, 1 - x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

// Elements beyond the border are the one at it, or left out.
ResizeTaps ResizeTapsAt(const ResizeRule& rule, const ResizeAxis& a, float x) {
  const bool shrinks = rule.antialias && a.scale < 1;
  const float scale = shrinks ? a.scale : 1;
  const float reach = (rule.by == ResizeBy::kLinear ? 1.0F : 2.0F) / scale;
  const auto first = static_cast<int64_t>(std::floor(x - reach));
  const auto last = static_cast<int64_t>(std::ceil(x + reach));
  ResizeTaps taps;
  float sum = 0;
  for (int64_t i = first; i <= last; ++i) {
    float share = ResizeShare(rule, scale * (static_cast<float>(i) - x));
    const bool beyond = i < 0 || i >= a.in;
    if (share == 0 || (beyond && rule.exclude_outside)) continue;
    sum += share;
    const int64_t from = std::clamp<int64_t>(i, 0, a.in - 1);
    if (!taps.empty() && taps.back().from == from) {
      taps.back().share += share;
    } else {
      taps.push_back({from, share});
    }
  }
  if (taps.size() == 1) sum = taps[0].share;
  for (ResizeTap& tap : taps) tap.share /= sum;
  return taps;
}

}  // namespace

ResizeList ResizeListOf(Call& c, const ResizeRule& rule, const ResizeAxis& a) {
  constexpr int64_t kMostTaps = 1 << 22;
  if (rule.by != ResizeBy::kNearest) c.RequireFew(a.in);
  ResizeList list;
  int64_t count = 0;
  for (int64_t i = 0; i < a.out; ++i) {
    float x = ResizeCoordinate(rule, a, i);
    const auto most = static_cast<float>(a.in - 1);
    c.Require(std::isfinite(x), "element {} of axis {} is read nowhere", i,
              a.axis);
    list.outside.push_back(rule.at == ResizeAt::kTfCropAndResize &&
                           (x < 0 || x > most));
    x = std::clamp(x, -4.0F - most, 2 * most + 4);
    if (rule.by == ResizeBy::kNearest) {
      const int64_t from = ResizeNearest(rule.round, a.scale < 1, x);
      list.rows.push_back({{std::clamp<int64_t>(from, 0, a.in - 1), 1}});
    } else {
      list.rows.push_back(ResizeTapsAt(rule, a, x));
    }
    count += static_cast<int64_t>(list.rows.back().size());
    c.Require(!list.rows.back().empty() && count <= kMostTaps,
              "element {} of axis {} is made of {} elements", i, a.axis,
              list.rows.back().size());
  }
  return list;
}

}  // namespace mxc::onnx
