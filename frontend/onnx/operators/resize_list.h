// SPDX-License-Identifier: Apache-2.0
// Of which elements each one of a resized axis is made, and with which shares.
// Coordinates are counted in f32, as ONNX Runtime counts them: where rounding
// decides, it decides alike.
#pragma once

#include <vector>

#include "frontend/onnx/call.h"

namespace mxc::onnx {

enum class ResizeBy { kNearest, kLinear, kCubic };
enum class ResizeAt {
  kHalfPixel,
  kHalfPixelSymmetric,
  kPytorchHalfPixel,
  kAlignCorners,
  kAsymmetric,
  kTfHalfPixelForNn,
  kTfCropAndResize
};
enum class ResizeRound { kPreferFloor, kPreferCeil, kFloor, kCeil, kOld };
enum class ResizePolicy { kStretch, kNotLarger, kNotSmaller };

struct ResizeRule {
  ResizeBy by = ResizeBy::kNearest;
  ResizeAt at = ResizeAt::kHalfPixel;
  ResizeRound round = ResizeRound::kPreferFloor;
  bool antialias = false;
  bool exclude_outside = false;
  float cubic_a = -0.75F;
  double extrapolation = 0;
};

struct ResizeAxis {
  int axis = 0;
  int64_t in = 1, out = 1;
  float scale = 1;
  float begin = 0, end = 1;  // of the part that is read, tf_crop_and_resize
};

// What one element of the result is made of.
struct ResizeTap {
  int64_t from = 0;
  float share = 1;

  friend bool operator==(const ResizeTap&, const ResizeTap&) = default;
};
using ResizeTaps = std::vector<ResizeTap>;

struct ResizeList {
  std::vector<ResizeTaps> rows;
  std::vector<bool> outside;  // read where there are no data
};

// An element may be made of all of the axis, and none of more; so many are looked
// at for each one.
ResizeList ResizeListOf(Call& c, const ResizeRule& rule, const ResizeAxis& a);

}  // namespace mxc::onnx
