// SPDX-License-Identifier: Apache-2.0
// How the values of a tensor are spread, as TensorBoard draws it
// (tensorflow.HistogramProto).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace mxc::train {

struct Histogram {
  int64_t count = 0;  // of finite values; others are left out
  double least = 0, most = 0, sum = 0, sum_of_squares = 0;
  // Of equal width between least and most: where each ends, how many values are
  // in it. One of no width where all values are the same.
  std::vector<double> limits, counts;
};

Histogram HistogramOf(std::span<const float> values);

std::string HistogramMessage(const Histogram& histogram);

}  // namespace mxc::train
