// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/digits/drawing.h"

#include <algorithm>
#include <cmath>

#include "runtime/data/digits/glyphs.h"
#include "runtime/data/random.h"

namespace mxc::data {
namespace {

constexpr int kPiecesOfCurve = 5;  // between two points

// The hand of one picture.
class Hand {
 public:
  explicit Hand(Draws& draws)
      : draws_(draws),
        jitter_(Between(0.5, 5.5)),
        angle_(Between(-0.28, 0.28)),
        slant_(Between(-0.25, 0.35)),
        width_(Between(0.12, 0.22)),
        height_(Between(0.16, 0.22)),
        bend_(Between(-0.15, 0.15)),
        left_(Between(-3.5, 3.5)),
        top_(Between(-3, 3)) {}

  Point Jitter(Point point) {
    return {point.x + Between(-jitter_, jitter_),
            point.y + Between(-jitter_, jitter_)};
  }

  // From the glyph's box to pixels.
  Point Place(Point point) const {
    const float u = point.x - 50, v = point.y - 50;
    const float x = (u + bend_ * v * v / 50 - slant_ * v) * width_;
    const float y = v * height_;
    // Sine and cosine to 1e-5 at these angles.
    const float a = angle_, square = a * a;
    const float sine = a * (1 - square / 6 * (1 - square / 20));
    const float cosine = 1 - square / 2 * (1 - square / 12);
    constexpr float kCenter = (kDigitSide - 1) / 2.0f;
    return {kCenter + left_ + cosine * x - sine * y,
            kCenter + top_ + sine * x + cosine * y};
  }

  float Between(double low, double high) {
    return static_cast<float>(draws_.Between(low, high));
  }

 private:
  Draws& draws_;
  float jitter_, angle_, slant_, width_, height_, bend_, left_, top_;
};

// The point between b and c of a Catmull-Rom spline.
Point Spline(Point a, Point b, Point c, Point d, float t) {
  const auto blend = [t](float a, float b, float c, float d) {
    return b +
           0.5f * t *
               (c - a +
                t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)));
  };
  return {blend(a.x, b.x, c.x, d.x), blend(a.y, b.y, c.y, d.y)};
}

std::vector<Point> Polyline(const Stroke& stroke) {
  const std::vector<Point>& points = stroke.points;
  if (stroke.kind == StrokeKind::kLine) return points;
  const bool loop = stroke.kind == StrokeKind::kLoop;
  const auto count = static_cast<int>(points.size());
  const auto at = [&](int i) {
    i = loop ? (i + count) % count : std::clamp(i, 0, count - 1);
    return points[static_cast<size_t>(i)];
  };
  std::vector<Point> line;
  for (int i = 0; i < (loop ? count : count - 1); ++i) {
    for (int k = 0; k < kPiecesOfCurve; ++k) {
      line.push_back(Spline(at(i - 1), at(i), at(i + 1), at(i + 2),
                            static_cast<float>(k) / kPiecesOfCurve));
    }
  }
  line.push_back(loop ? points.front() : points.back());
  return line;
}

using Paper = std::array<float, kDigitSide * kDigitSide>;

// Ink where the pen passes from `a` to `b`; its edge is a pixel wide.
void DrawSegment(Point a, Point b, float radius, Paper* paper) {
  const float reach = radius + 1;
  const auto first = [&](float p, float q) {
    return std::max(0, static_cast<int>(std::min(p, q) - reach));
  };
  const auto last = [&](float p, float q) {
    return std::min(kDigitSide - 1, static_cast<int>(std::max(p, q) + reach));
  };
  const float dx = b.x - a.x, dy = b.y - a.y;
  const float length = std::max(dx * dx + dy * dy, 1e-6f);
  for (int y = first(a.y, b.y); y <= last(a.y, b.y); ++y) {
    for (int x = first(a.x, b.x); x <= last(a.x, b.x); ++x) {
      const float px = static_cast<float>(x) - a.x;
      const float py = static_cast<float>(y) - a.y;
      const float t = std::clamp((px * dx + py * dy) / length, 0.0f, 1.0f);
      const float ex = px - t * dx, ey = py - t * dy;
      const float distance = std::sqrt(ex * ex + ey * ey);
      float& ink = (*paper)[static_cast<size_t>(y * kDigitSide + x)];
      ink = std::max(ink, std::clamp(radius + 0.5f - distance, 0.0f, 1.0f));
    }
  }
}

void DrawGlyph(const Glyph& glyph, Hand& hand, float radius, Paper* paper) {
  for (Stroke stroke : glyph) {
    for (Point& point : stroke.points) point = hand.Jitter(point);
    std::vector<Point> line = Polyline(stroke);
    for (Point& point : line) point = hand.Place(point);
    for (size_t i = 0; i + 1 < line.size(); ++i) {
      DrawSegment(line[i], line[i + 1], radius, paper);
    }
  }
}

// A short scratch somewhere on the paper, on every fifth.
void DrawScratch(Hand& hand, Paper* paper) {
  if (hand.Between(0, 1) > 0.2f) return;
  const Point from = {hand.Between(1, 26), hand.Between(1, 26)};
  const Point to = {from.x + hand.Between(-3, 3), from.y + hand.Between(-3, 3)};
  DrawSegment(from, to, hand.Between(0.2, 0.6), paper);
}

}  // namespace

DigitPicture DrawDigit(int digit, uint64_t random) {
  Draws draws(random);
  Hand hand(draws);
  const std::span<const Glyph> glyphs = GlyphsOf(digit);
  const Glyph& glyph = glyphs[draws.Below(glyphs.size())];
  Paper paper{};
  DrawGlyph(glyph, hand, hand.Between(0.55, 1.7), &paper);
  DrawScratch(hand, &paper);
  const float ink = hand.Between(0.65, 1), dirt = hand.Between(0, 0.25);
  DigitPicture picture;
  for (size_t i = 0; i < picture.size(); ++i) {
    const float value = paper[i] * ink + hand.Between(-dirt, dirt);
    picture[i] =
        static_cast<uint8_t>(std::clamp(value, 0.0f, 1.0f) * 255 + 0.5f);
  }
  return picture;
}

}  // namespace mxc::data
