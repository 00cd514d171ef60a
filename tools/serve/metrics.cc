// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/metrics.h"

#include <algorithm>
#include <cstdio>

#include "runtime/base/clock.h"
#include "runtime/base/metric_text.h"

namespace mxc::serve {
namespace {

using runtime::Metric;

std::string Number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

}  // namespace

void Metrics::Add(const std::string& path, int status, int64_t nanoseconds) {
  ++answered_;
  ++requests_[{path, status}];
  Histogram& histogram = durations_[path];
  const auto bucket =
      std::ranges::lower_bound(kBounds, runtime::SecondsOf(nanoseconds));
  ++histogram.counts[static_cast<size_t>(bucket - kBounds.begin())];
  histogram.sum += nanoseconds;
  ++histogram.count;
}

std::string Metrics::Text(const Gauges& gauges) const {
  std::string text;
  Metric requests(text, "mxc_serve_requests_total", "counter",
                  "Requests that were answered.");
  for (const auto& [key, count] : requests_) {
    requests.Add({{"path", key.first}, {"status", std::to_string(key.second)}},
                 static_cast<double>(count));
  }
  Metric durations(text, "mxc_serve_request_duration_seconds", "histogram",
                   "From a request's first byte to its answer's last.");
  for (const auto& [path, histogram] : durations_) {
    uint64_t below = 0;
    for (size_t k = 0; k < histogram.counts.size(); ++k) {
      below += histogram.counts[k];
      const std::string bound =
          k < kBounds.size() ? Number(kBounds[k]) : "+Inf";
      durations.Add({{"path", path}, {"le", bound}}, static_cast<double>(below),
                    "_bucket");
    }
    durations.Add({{"path", path}}, runtime::SecondsOf(histogram.sum), "_sum");
    durations.Add({{"path", path}}, static_cast<double>(histogram.count),
                  "_count");
  }
  const auto gauge = [&](const char* name, const char* type, const char* help,
                         double value) {
    Metric(text, name, type, help).Add({}, value);
  };
  gauge("mxc_serve_queue_requests", "gauge", "Requests that wait for a worker.",
        gauges.waiting);
  gauge("mxc_serve_connections", "gauge", "Connections that are open.",
        gauges.connections);
  gauge("mxc_serve_body_bytes", "gauge", "Memory that bodies take.",
        gauges.body_bytes);
  gauge("mxc_serve_batches_total", "counter",
        "Times that workers took requests.", gauges.batches);
  gauge("mxc_serve_batched_requests_total", "counter",
        "Requests that workers took.", gauges.batched_requests);
  return text;
}

}  // namespace mxc::serve
