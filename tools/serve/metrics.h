// SPDX-License-Identifier: Apache-2.0
// Counts requests and times for GET /metrics.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace mxc::serve {

// What the server has done, for Prometheus. Used by the thread that reads
// requests.
class Metrics {
 public:
  // Of now.
  struct Gauges {
    double waiting = 0, connections = 0, body_bytes = 0;
    double batches = 0, batched_requests = 0;  // since the start
  };

  // `path`: one that the server has, else "other".
  void Add(const std::string& path, int status, int64_t nanoseconds);
  int64_t answered() const { return answered_; }
  std::string Text(const Gauges& gauges) const;

 private:
  static constexpr std::array<double, 14> kBounds = {
      .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10};
  struct Histogram {
    std::array<uint64_t, kBounds.size() + 1> counts = {};
    int64_t sum = 0;  // ns
    uint64_t count = 0;
  };

  int64_t answered_ = 0;
  std::map<std::pair<std::string, int>, uint64_t> requests_;
  std::map<std::string, Histogram> durations_;
};

}  // namespace mxc::serve
