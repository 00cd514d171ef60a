// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/chart.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>

#include "runtime/base/visible.h"
#include "runtime/train/chart_json.h"
#include "runtime/train/status.h"

namespace mxc::train {
namespace {

constexpr double kWidth = 560, kHeight = 260;
constexpr double kLeft = 58, kRight = 14, kTop = 34, kBottom = 34;
constexpr size_t kMostPoints = 400;
constexpr size_t kSmoothFrom = 60;  // points
constexpr int kColours = 6;
// Values that differ by less are equal: rounding is no curve.
constexpr double kRounding = 1e-5;
constexpr double kWorthLogarithms = 10;  // the largest value over the smallest

std::vector<Point> Thin(const std::vector<Point>& points) {
  std::vector<Point> finite;
  for (const Point& p : points) {
    if (std::isfinite(p.value)) finite.push_back(p);
  }
  const size_t group = (finite.size() + kMostPoints - 1) / kMostPoints;
  if (group <= 1) return finite;
  std::vector<Point> thinned;
  for (size_t i = 0; i < finite.size(); i += group) {
    const size_t end = std::min(i + group, finite.size());
    double sum = 0;
    for (size_t k = i; k < end; ++k) sum += finite[k].value;
    thinned.push_back({finite[end - 1].step, sum / static_cast<double>(end - i),
                       finite[end - 1].time});
  }
  return thinned;
}

// An exponential mean, over about a 25th of the curve, that does not start at
// zero.
std::vector<Point> Smooth(const std::vector<Point>& points) {
  const double keep = 1 - 25.0 / static_cast<double>(points.size());
  std::vector<Point> smooth = points;
  double mean = 0, weight = 0;
  for (Point& p : smooth) {
    mean = keep * mean + (1 - keep) * p.value;
    weight = keep * weight + (1 - keep);
    p.value = mean / weight;
  }
  return smooth;
}

struct Range {
  double low = 0, high = 1;

  double At(double value) const { return (value - low) / (high - low); }
};

// The distance of marks: 1, 2 or 5 times a power of ten, about five of them.
double Tick(const Range& range) {
  const double rough = (range.high - range.low) / 5;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (rough <= factor * power) return factor * power;
  }
  return 10 * power;
}

Range RangeOf(const std::vector<Curve>& curves, bool steps) {
  Range range{INFINITY, -INFINITY};
  for (const Curve& curve : curves) {
    for (const Point& p : curve.points) {
      const double v = steps ? static_cast<double>(p.step) : p.value;
      range.low = std::min(range.low, v);
      range.high = std::max(range.high, v);
    }
  }
  if (range.low > range.high) return {};
  const double largest = std::max(std::abs(range.low), std::abs(range.high));
  if (range.high - range.low <= (steps ? 0 : kRounding * largest)) {
    range.low = range.high = (range.low + range.high) / 2;
    const double margin = range.low == 0 ? 1 : std::abs(range.low) / 2;
    range = {range.low - margin, range.high + margin};
  }
  if (steps) return range;
  const double tick = Tick(range);
  return {std::floor(range.low / tick) * tick,
          std::ceil(range.high / tick) * tick};
}

// The decades around values that are worth it; otherwise nothing.
std::optional<Range> DecadesOf(const std::vector<Curve>& curves) {
  double low = INFINITY, high = 0;
  for (const Curve& curve : curves) {
    for (const Point& p : curve.points) {
      low = std::min(low, p.value);
      high = std::max(high, p.value);
    }
  }
  if (!(low > 0) || high / low < kWorthLogarithms) return std::nullopt;
  return Range{std::floor(std::log10(low)), std::ceil(std::log10(high))};
}

class Drawing {
 public:
  Drawing(std::vector<Curve> curves, Axis axis)
      : curves_(std::move(curves)),
        steps_(RangeOf(curves_, true)),
        values_(RangeOf(curves_, false)) {
    if (axis != Axis::kLogarithmic) return;
    const std::optional<Range> decades = DecadesOf(curves_);
    logarithmic_ = decades.has_value();
    if (decades) values_ = *decades;
  }

  std::string Draw(std::string_view title) {
    Text(kLeft, 18, "title", title);
    DrawGrid();
    const double height = DrawLegend(title);
    for (size_t i = 0; i < curves_.size(); ++i) DrawCurve(i);
    return Format(
               "<svg class=\"chart\" viewBox=\"0 0 %g %g\" role=\"img\" "
               "xmlns=\"http://www.w3.org/2000/svg\" data-chart=\"%s\">\n",
               kWidth, height, EscapeXml(Json()).c_str()) +
           svg_ + "</svg>\n";
  }

 private:
  std::string Json() const {
    return ChartJson({.left = kLeft,
                      .right = kWidth - kRight,
                      .top = kTop,
                      .bottom = kHeight - kBottom,
                      .first_step = steps_.low,
                      .last_step = steps_.high,
                      .low = values_.low,
                      .high = values_.high,
                      .logarithmic = logarithmic_},
                     curves_);
  }

  double X(double step) const {
    return kLeft + steps_.At(step) * (kWidth - kLeft - kRight);
  }
  double Y(double value) const {
    return AtHeight(logarithmic_ ? std::log10(value) : value);
  }
  // Of a value, or of its logarithm.
  double AtHeight(double value) const {
    return kHeight - kBottom - values_.At(value) * (kHeight - kTop - kBottom);
  }

  void Text(double x, double y, const char* css, std::string_view text) {
    svg_ += Format("<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">%s</text>\n", x, y,
                   css, EscapeXml(text).c_str());
  }

  void DrawGrid() {
    const double step = logarithmic_ ? 1 : Tick(values_);
    for (double v = values_.low; v <= values_.high + step / 2; v += step) {
      const double shown = logarithmic_                ? std::pow(10, v)
                           : std::abs(v) < step / 1000 ? 0
                                                       : v;
      svg_ += Format(
          "<line class=\"grid\" x1=\"%g\" y1=\"%.1f\" x2=\"%g\" "
          "y2=\"%.1f\"/>\n",
          kLeft, AtHeight(v), kWidth - kRight, AtHeight(v));
      Text(kLeft - 6, AtHeight(v) + 4, "y", ShortNumber(shown));
    }
    const double stride = std::max(1.0, Tick(steps_));
    for (double s = std::ceil(steps_.low / stride) * stride; s <= steps_.high;
         s += stride) {
      Text(X(s), kHeight - kBottom + 16, "x", ShortNumber(s));
    }
    Text(kWidth - kRight, kHeight - 4, "y", "steps");
  }

  // About six units a letter, and a piece of the line.
  static double LegendWidth(const Curve& curve) {
    return 6.2 * static_cast<double>(runtime::CharactersIn(curve.name)) + 30;
  }

  bool LegendFitsBeside(std::string_view title) const {
    double width = 8 * static_cast<double>(title.size());
    for (const Curve& curve : curves_) width += LegendWidth(curve);
    return width <= kWidth - kLeft - kRight;
  }

  void DrawLegendEntry(size_t i, double x, double y) {
    svg_ += Format(
        "<line class=\"c%zu\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" "
        "y2=\"%.1f\"/>\n",
        i % kColours, x, y - 4, x + 14, y - 4);
    Text(x + 18, y, "name", curves_[i].name);
  }

  // Beside the title where there is room, else in rows below; the height of the
  // whole.
  double DrawLegend(std::string_view title) {
    constexpr double kRow = 16;
    if (curves_.size() < 2) return kHeight;
    const bool beside = LegendFitsBeside(title);
    double x = kLeft, y = kHeight + 10;
    if (beside) {
      x = kWidth - kRight + 12;
      for (const Curve& curve : curves_) x -= LegendWidth(curve);
      y = 18;
    }
    for (size_t i = 0; i < curves_.size(); ++i) {
      const double width = LegendWidth(curves_[i]);
      if (!beside && x > kLeft && x + width > kWidth) {
        x = kLeft;
        y += kRow;
      }
      DrawLegendEntry(i, x, y);
      x += width;
    }
    return beside ? kHeight : y + 6;
  }

  void DrawLine(const std::vector<Point>& points, size_t colour,
                const char* more) {
    if (points.size() == 1) {
      svg_ += Format(
          "<circle class=\"c%zu\" cx=\"%.1f\" cy=\"%.1f\" r=\"2\"/>\n", colour,
          X(static_cast<double>(points[0].step)), Y(points[0].value));
      return;
    }
    svg_ += Format("<polyline class=\"curve c%zu%s\" points=\"", colour, more);
    for (const Point& p : points) {
      svg_ += Format("%.1f,%.1f ", X(static_cast<double>(p.step)), Y(p.value));
    }
    svg_ += "\"/>\n";
  }

  void DrawCurve(size_t index) {
    const std::vector<Point>& points = curves_[index].points;
    if (points.empty()) return;
    const size_t colour = index % kColours;
    const bool other = curves_[index].of_other_run;
    const bool noisy = points.size() >= kSmoothFrom;
    if (!noisy || !other) {
      DrawLine(points, colour, noisy ? " faint" : other ? " other" : "");
    }
    if (noisy) DrawLine(Smooth(points), colour, other ? " other" : "");
  }

  std::vector<Curve> curves_;
  Range steps_, values_;
  bool logarithmic_ = false;  // values_ are exponents of ten
  std::string svg_;
};

}  // namespace

std::string DrawChart(std::string_view title, const std::vector<Curve>& curves,
                      Axis axis) {
  std::vector<Curve> thinned;
  for (const Curve& curve : curves) {
    thinned.push_back({curve.name, Thin(curve.points), curve.of_other_run});
  }
  return Drawing(std::move(thinned), axis).Draw(title);
}

std::string ShortNumber(double value) {
  const double magnitude = std::abs(value);
  if (magnitude >= 1e9 || (magnitude < 1e-4 && magnitude > 0)) {
    return Format("%.3g", value);
  }
  if (magnitude >= 1e6) return Format("%gM", value / 1e6);
  if (magnitude >= 1e4) return Format("%gk", value / 1e3);
  return Format("%.4g", value);
}

std::string EscapeXml(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '&':
        escaped += "&amp;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        // XML has no control characters, escaped or not.
        escaped += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return escaped;
}

}  // namespace mxc::train
