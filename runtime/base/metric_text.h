// SPDX-License-Identifier: Apache-2.0
// Metrics in Prometheus' text form (exposition format 0.0.4).
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace mxc::runtime {

using MetricLabels = std::vector<std::pair<std::string, std::string>>;

inline constexpr const char* kMetricsType = "text/plain; version=0.0.4";

// One metric with all its samples, which stand together.
class Metric {
 public:
  // `type`: "counter", "gauge" or "histogram". Appends to `text`.
  Metric(std::string& text, const std::string& name, const char* type,
         const char* help);
  // `suffix` as in a histogram's "_bucket".
  void Add(const MetricLabels& labels, double value, const char* suffix = "");

 private:
  std::string& text_;
  const std::string name_;
};

}  // namespace mxc::runtime
