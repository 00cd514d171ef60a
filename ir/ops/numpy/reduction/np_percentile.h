// SPDX-License-Identifier: Apache-2.0
// _npi_percentile, and the operator of our own that finds percentiles of rows
// that are sorted.
#pragma once

#include <array>
#include <string_view>

#include "ir/ops/op.h"

namespace mxc {

// What a percentile between two elements is.
enum class PercentileAt : int {
  kLinear,
  kLower,
  kHigher,
  kMidpoint,
  kNearest,  // of two alike: the upper one
};

inline constexpr std::array<std::string_view, 5> kPercentileNames = {
    "linear", "lower", "higher", "midpoint", "nearest"};

inline void DescribePercentile(Fields& f, PercentileAt& at) {
  f("interpolation", at)
      .OneOf({kPercentileNames.begin(), kPercentileNames.end()})
      .Doc("what a percentile between two elements is");
}

// f64 of f64, else f32.
inline DType PercentileType(DType dtype) {
  const bool other = dtype != DType::kF64 && dtype != DType::kUnknown;
  return other ? DType::kF32 : dtype;
}

}  // namespace mxc
