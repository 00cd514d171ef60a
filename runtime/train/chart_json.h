// SPDX-License-Identifier: Apache-2.0
// Hands a chart's points to the script that shows values under the pointer.
#pragma once

#include <string>
#include <vector>

#include "runtime/train/chart.h"

namespace mxc::train {

// Where a chart lies in its drawing, and what stands at its edges.
struct ChartFrame {
  double left, right, top, bottom;
  double first_step, last_step;
  double low, high;  // values, or exponents of ten
  bool logarithmic;
};

// The frame and the points of the curves, [step, value] or, of this run, [step,
// value, seconds since its first point]: what kChartScript reads.
std::string ChartJson(const ChartFrame& frame,
                      const std::vector<Curve>& curves);

// Shows the values where the pointer is, and smooths as much as the slider
// #smoothing says. Without it the charts stay as they were drawn.
extern const char* const kChartScript;

}  // namespace mxc::train
