// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/chart_json.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "runtime/base/visible.h"
#include "runtime/train/status.h"

namespace mxc::train {
namespace {

bool IsKnown(double time) { return time > 0 && time < 1e11; }

// The first time of this run; infinite where none is known.
double BeginOf(const std::vector<Curve>& curves) {
  double begin = INFINITY;
  for (const Curve& curve : curves) {
    if (curve.of_other_run) continue;
    for (const Point& p : curve.points) {
      if (IsKnown(p.time)) begin = std::min(begin, p.time);
    }
  }
  return begin;
}

std::string CurveJson(const Curve& curve, double begin) {
  std::string json = Format("{\"name\":%s,\"other\":%s,\"points\":[",
                            runtime::JsonQuoted(curve.name).c_str(),
                            curve.of_other_run ? "true" : "false");
  const char* separator = "";
  for (const Point& p : curve.points) {
    json += Format("%s[%lld,%.6g", std::exchange(separator, ","),
                   static_cast<long long>(p.step), p.value);
    const bool timed = IsKnown(p.time) && !curve.of_other_run;
    json += timed ? Format(",%.0f]", p.time - begin) : "]";
  }
  return json + "]}";
}

}  // namespace

std::string ChartJson(const ChartFrame& frame,
                      const std::vector<Curve>& curves) {
  std::string json = Format(
      "{\"left\":%g,\"right\":%g,\"top\":%g,\"bottom\":%g,"
      "\"steps\":[%.9g,%.9g],\"values\":[%.9g,%.9g],\"log\":%s,\"curves\":[",
      frame.left, frame.right, frame.top, frame.bottom, frame.first_step,
      frame.last_step, frame.low, frame.high,
      frame.logarithmic ? "true" : "false");
  const double begin = BeginOf(curves);
  const char* separator = "";
  for (const Curve& curve : curves) {
    json += std::exchange(separator, ",") + CurveJson(curve, begin);
  }
  return json + "]}";
}

}  // namespace mxc::train
