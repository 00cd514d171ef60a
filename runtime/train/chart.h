// SPDX-License-Identifier: Apache-2.0
// Draws training curves as SVG, for the report of a run.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/train/series.h"

namespace mxc::train {

struct Curve {
  std::string name;
  std::vector<Point> points;  // by step; what is not finite is left out
  bool of_other_run = false;  // drawn thin
};

enum class Axis {
  kLinear,
  kLogarithmic,  // where all values are above 0 and some ten times others
};

// An SVG element of the curves over the number of steps. Curves of many points
// are thinned to means of neighbours, and noisy ones drawn twice: as they are,
// faint, and smoothed; one that varies by rounding alone is a straight line.
// Colours and fonts are CSS classes: c0 … c5, grid, axis. data-chart holds the
// points for a script (chart_json.h).
std::string DrawChart(std::string_view title, const std::vector<Curve>& curves,
                      Axis axis = Axis::kLinear);

// A number as a label: "0.025", "1.2e-05", "12k".
std::string ShortNumber(double value);

// "&lt;" for "<" and so on.
std::string EscapeXml(std::string_view text);

}  // namespace mxc::train
