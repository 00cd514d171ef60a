// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/histogram.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "runtime/train/protobuf.h"

namespace mxc::train {
namespace {

constexpr int kBuckets = 64;

// Field numbers of tensorflow.HistogramProto.
constexpr int kMin = 1, kMax = 2, kNum = 3, kSum = 4, kSumSquares = 5;
constexpr int kBucketLimit = 6, kBucket = 7;

void PutAll(std::string& out, int field, const std::vector<double>& values) {
  PutCounted(out, field,
             {reinterpret_cast<const char*>(values.data()),
              values.size() * sizeof(double)});
}

void NoteMoments(std::span<const float> values, Histogram& histogram) {
  for (const float value : values) {
    if (!std::isfinite(value)) continue;
    const auto v = static_cast<double>(value);
    const bool first = histogram.count++ == 0;
    histogram.least = first ? v : std::min(histogram.least, v);
    histogram.most = first ? v : std::max(histogram.most, v);
    histogram.sum += v;
    histogram.sum_of_squares += v * v;
  }
}

}  // namespace

Histogram HistogramOf(std::span<const float> values) {
  Histogram histogram;
  NoteMoments(values, histogram);
  if (histogram.count == 0) return histogram;
  const double width = (histogram.most - histogram.least) / kBuckets;
  if (!(width > 0)) {
    histogram.limits = {histogram.most};
    histogram.counts = {static_cast<double>(histogram.count)};
    return histogram;
  }
  for (int k = 1; k < kBuckets; ++k) {
    histogram.limits.push_back(histogram.least + width * k);
  }
  histogram.limits.push_back(histogram.most);
  histogram.counts.resize(kBuckets);
  for (const float value : values) {
    if (!std::isfinite(value)) continue;
    const double at = (static_cast<double>(value) - histogram.least) / width;
    histogram.counts[std::min<size_t>(static_cast<size_t>(at), kBuckets - 1)]++;
  }
  return histogram;
}

std::string HistogramMessage(const Histogram& histogram) {
  std::string message;
  PutFixed(message, kMin, histogram.least);
  PutFixed(message, kMax, histogram.most);
  PutFixed(message, kNum, static_cast<double>(histogram.count));
  PutFixed(message, kSum, histogram.sum);
  PutFixed(message, kSumSquares, histogram.sum_of_squares);
  PutAll(message, kBucketLimit, histogram.limits);
  PutAll(message, kBucket, histogram.counts);
  return message;
}

}  // namespace mxc::train
