// SPDX-License-Identifier: Apache-2.0
// Operators on the colours of one picture:
//   data, output  t[H, W, C], C 1 or 3 (red, green, blue)
// Computed in f32; bytes are limited to 0 … 255, and fractions dropped. The
// gradient of data is the output's, as in MXNet.
// C1  data has such a shape
// Source: MXNet 1.9.1 operator/image/image_random-inl.h.
#pragma once

#include <string>

#include "ir/ops/op.h"

namespace mxc {

void ColorTypes(TypeInference& t);

// What becomes of a colour x, by a factor f:
enum class ColorAdjustment : int {
  kBrightness,  // x·f
  kContrast,    // x·f + (1 − f)·m, m the mean grey of the picture
  kSaturation,  // x·f + (1 − f)·b, b what blue adds to grey, as MXNet has it
  kHue,         // turned by f·360°
};

// The picture with one adjustment: which, and the factor, are f32[1].
Value AdjustColors(GraphBuilder& b, Value picture, Value which, Value factor);
// f32[1], uniform between two numbers.
Value DrawFactor(GraphBuilder& b, double low, double high);
// The picture with what f32[3] says added to its colours; one colour stays.
Value AddToColors(GraphBuilder& b, Value picture, Value added);
// What principal components of colours, by f32[3], add to them.
Value LightingOf(GraphBuilder& b, Value alpha);

// _image_random_<name>, and its other name: one adjustment by a factor from
// min_factor to max_factor.
Operator RandomColorOperator(const std::string& name, std::string doc,
                             ColorAdjustment adjustment);
// _image_random_flip_<name>: mirrored or not, one as likely as the other.
Operator RandomFlipOperator(const std::string& name, std::string doc,
                            const Operator& (*flip)());

}  // namespace mxc
