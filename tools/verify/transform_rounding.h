// SPDX-License-Identifier: Apache-2.0
// What roundings do to the sums of Winograd's and Strassen's algorithms, tile
// by tile; the model is rounding_bound.h's.
#pragma once

#include <cmath>
#include <vector>

#include "ir/graph/tensor.h"
#include "ir/program/program.h"
#include "tools/verify/rounding_bound.h"

namespace mxc {

// u of single precision.
inline constexpr double kRoundoff = 0x1p-24;

// The contraction's sums, row-major as its output, and λ σ of each.
struct Bounded {
  std::vector<double> sum, bound;

  explicit Bounded(const Shape& shape)
      : sum(static_cast<size_t>(shape.elements())), bound(sum.size()) {}
  void Set(int64_t at, double value, double square) {
    sum[at] = value;
    bound[at] = kRoundingDeviations * kRoundoff * std::sqrt(square);
  }
};

// Returns whether the step is by one of these algorithms.
bool HasTransforms(const ContractionStep& step);

// The sums of such a step, whose output has that shape, on f32 operands.
Bounded SumsOfTransforms(const ContractionStep& step, const Shape& shape,
                         const Tensor& data, const Tensor& weight);

}  // namespace mxc
