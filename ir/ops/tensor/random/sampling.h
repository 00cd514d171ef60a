// SPDX-License-Identifier: Apache-2.0
// Operators that draw from distributions. All are compositions of
// _philox_sample and its kin (draws.h) on the random state: the same graph
// draws the same numbers on every machine, for any number of threads, and
// MXNet's in distribution only.
// C1  the output has fewer than 2^32 elements
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "ir/ops/op.h"

namespace mxc {

enum class Distribution : int {
  kUniform,      // low, high
  kNormal,       // mean, standard deviation
  kExponential,  // rate
  kGamma,        // shape, scale
  kPoisson,      // mean
  // The failures before the k-th success, each trial one with probability p.
  kNegativeBinomial,
  // Mean and dispersion α; α = 0: Poisson.
  kGeneralizedNegativeBinomial,
};

// Those that are drawn by rejection.
enum class RejectedDraw : int { kGamma, kPoisson };

// Draws of `shape`, for parameters of [P…] where it is [P…, S…], or of (1).
Value DrawSample(GraphBuilder& b, Distribution distribution,
                 std::vector<Value> parameters, const Shape& shape,
                 std::optional<DType> dtype);

// What operators that draw state, each a part of it: the distribution's
// parameters, two at most, with MXNet's defaults, and the output.
template <Distribution kDistribution>
struct SamplingAttrs {
  SamplingAttrs();

  std::array<double, 2> parameters = {};
  Extents shape = {};
  std::string ctx = {};
  std::optional<DType> dtype = {};
};

template <Distribution kDistribution>
struct RandomAttrs : SamplingAttrs<kDistribution> {
  void Describe(Fields& f);
};
MXC_ATTRS(RandomUniform, RandomAttrs<Distribution::kUniform>);
MXC_ATTRS(RandomNormal, RandomAttrs<Distribution::kNormal>);

// _random_<name>: parameters are attributes, the shape is stated.
template <Distribution kDistribution>
Operator RandomOperator();
// _random_<name>_like: the shape is that of the input.
template <Distribution kDistribution>
Operator RandomLikeOperator();
// _sample_<name>: parameters are tensors [P…] → [P…, S…], S the attribute
// `shape`.
template <Distribution kDistribution>
Operator SampleOperator();

}  // namespace mxc
