// SPDX-License-Identifier: Apache-2.0
#include "tools/quantize/value_range.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "tools/quantize/entropy.h"

namespace mxc {
namespace {

constexpr int kBins = 8001;  // MXNet's num_bins
constexpr int kLevelsOfInt8 = 255, kLevelsOfUint8 = 2 * kLevelsOfInt8 + 1;
constexpr double kLeastMagnitude = 1e-6;  // of a tensor of zeros

}  // namespace

void ValueStatistics::Extend(std::span<const float> values) {
  for (const float value : values) {
    if (!std::isfinite(value)) {
      finite_ = false;
      continue;
    }
    const double x = value;
    whole_.low = any_ ? std::min(whole_.low, x) : x;
    whole_.high = any_ ? std::max(whole_.high, x) : x;
    any_ = true;
  }
}

double ValueStatistics::greatest() const {
  return std::max(
      {std::abs(whole_.low), std::abs(whole_.high), kLeastMagnitude});
}

void ValueStatistics::Count(std::span<const float> values) {
  bins_.resize(kBins, 0);
  const double limit = greatest(), scale = kBins / (2 * limit);
  for (const float value : values) {
    if (!std::isfinite(value)) continue;
    const double place = (static_cast<double>(value) + limit) * scale;
    const auto bin = static_cast<int64_t>(place);
    ++bins_[static_cast<size_t>(std::clamp<int64_t>(bin, 0, kBins - 1))];
  }
}

// The edge of the innermost bins on both sides that hold the share together.
double ValueStatistics::PercentileThreshold(double percentile) const {
  constexpr size_t kMiddle = kBins / 2;
  int64_t all = 0;
  for (const int64_t count : bins_) all += count;
  const double wanted = static_cast<double>(all) * percentile / 100;
  int64_t within = bins_[kMiddle];
  size_t half = 0;
  while (half < kMiddle && static_cast<double>(within) < wanted) {
    ++half;
    within += bins_[kMiddle - half] + bins_[kMiddle + half];
  }
  return (static_cast<double>(half) + 0.5) * 2 * greatest() / kBins;
}

ValueRange ValueStatistics::RangeBy(RangeMode mode, double percentile) const {
  ValueRange range = whole_;
  if (mode != RangeMode::kNaive && !bins_.empty()) {
    const int levels = whole_.has_negatives() ? kLevelsOfInt8 : kLevelsOfUint8;
    const double threshold = mode == RangeMode::kPercentile
                                 ? PercentileThreshold(percentile)
                                 : EntropyThreshold(bins_, greatest(), levels);
    range = {whole_.has_negatives() ? -threshold : 0, threshold};
  }
  if (std::max(std::abs(range.low), std::abs(range.high)) < kLeastMagnitude) {
    range.high = kLeastMagnitude;
  }
  return range;
}

}  // namespace mxc
