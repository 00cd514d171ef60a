// SPDX-License-Identifier: Apache-2.0
// The values that a tensor has over many samples, and the range that 8-bit
// numbers should stand for.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace mxc {

// What decides how far a range reaches; the order of kRangeModes.
enum class RangeMode : int {
  kNaive,       // to the least and the greatest value, as MXNet calls it
  kPercentile,  // so that a share of the values lies within
  kEntropy,     // entropy.h
};
inline const std::vector<std::string_view> kRangeModes = {"naive", "percentile",
                                                          "entropy"};

struct ValueRange {
  double low = 0, high = 0;

  bool has_negatives() const { return low < 0; }
};

// Two passes over the same samples: the first extends the range of all values,
// the second counts them in bins.
class ValueStatistics {
 public:
  void Extend(std::span<const float> values);
  void Count(std::span<const float> values);

  // Returns whether all values so far were numbers; no range says anything
  // else.
  bool finite() const { return finite_; }
  const ValueRange& whole() const { return whole_; }
  // By `mode`; `percentile` of kPercentile, from 0 to 100. Never of no width.
  ValueRange RangeBy(RangeMode mode, double percentile) const;

 private:
  double greatest() const;  // magnitude
  double PercentileThreshold(double percentile) const;

  bool finite_ = true, any_ = false;
  ValueRange whole_;
  std::vector<int64_t> bins_;  // over [-greatest, greatest]
};

}  // namespace mxc
