// SPDX-License-Identifier: Apache-2.0
// How people write digits, as strokes.
#pragma once

#include <span>
#include <vector>

namespace mxc::data {

struct Point {
  float x = 0, y = 0;
};

enum class StrokeKind {
  kLine,   // straight from point to point
  kCurve,  // smooth through the points
  kLoop,   // the same, back to the first
};

struct Stroke {
  StrokeKind kind;
  std::vector<Point> points;  // in a box of 100 x 100, y downwards
};

using Glyph = std::vector<Stroke>;

// The ways to write one digit.
std::span<const Glyph> GlyphsOf(int digit);

}  // namespace mxc::data
