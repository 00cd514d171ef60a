// SPDX-License-Identifier: Apache-2.0
#include "tools/verify/conditioning_bound.h"

#include <cmath>
#include <cstdint>
#include <functional>

#include "ir/program/interpreter.h"
#include "tools/verify/rounding_bound.h"

namespace mxc {
namespace {

constexpr uint64_t kRuns = 8;

// The bound of an element from the sum of the squares of its changes.
Tensor ToBounds(const std::vector<double>& squares, const Tensor& expected,
                const Tolerance& tolerance) {
  const double scale = LargestMagnitude(expected);
  std::vector<float> bounds(squares.size());
  for (size_t i = 0; i < bounds.size(); ++i) {
    const double value = expected.At(static_cast<int64_t>(i));
    bounds[i] = static_cast<float>(
        AllowedError(tolerance, value, scale, expected.type().dtype) +
        kRoundingDeviations * std::sqrt(squares[i] / kRuns));
  }
  return Tensor::FromFloats(expected.shape(), bounds);
}

using Run = std::function<Result<std::vector<Tensor>>(RoundingNoise&)>;

// By what several runs give for `expected`.
Result<std::vector<Tensor>> BoundsOf(const Run& run,
                                     std::span<const Tensor> expected,
                                     std::span<const Tolerance> tolerances,
                                     double bits = 1) {
  std::vector<std::vector<double>> squares;
  for (const Tensor& output : expected) {
    const bool floats = IsFloat(output.type().dtype);
    squares.emplace_back(floats ? output.shape().elements() : 0);
  }
  for (uint64_t seed = 1; seed <= kRuns; ++seed) {
    RoundingNoise noise(seed, bits);
    MXC_ASSIGN(const std::vector<Tensor> values, run(noise));
    for (size_t o = 0; o < squares.size(); ++o) {
      for (size_t i = 0; i < squares[o].size(); ++i) {
        const auto at = static_cast<int64_t>(i);
        const double change = values[o].At(at) - expected[o].At(at);
        if (std::isfinite(change)) squares[o][i] += change * change;
      }
    }
  }
  std::vector<Tensor> bounds(expected.size());
  for (size_t o = 0; o < bounds.size(); ++o) {
    if (squares[o].empty()) continue;
    bounds[o] = ToBounds(squares[o], expected[o], tolerances[o]);
  }
  return bounds;
}

}  // namespace

std::vector<Tensor> ConditioningBounds(const Program& program, const Step& step,
                                       std::span<const Tensor> operands,
                                       std::span<const Tensor> expected,
                                       const Tolerance& tolerance) {
  const auto run = [&](RoundingNoise& noise) {
    return Result(InterpretStep(program, step, operands, {.noise = &noise}));
  };
  const std::vector<Tolerance> tolerances(expected.size(), tolerance);
  return *BoundsOf(run, expected, tolerances);
}

Result<std::vector<Tensor>> ConditioningBounds(
    const Program& program, const std::map<std::string, Tensor>& inputs,
    std::span<const Tensor> expected, std::span<const Tolerance> tolerances) {
  const auto run = [&](RoundingNoise& noise) {
    InterpreterOptions options;
    options.arithmetic.noise = &noise;
    return Interpret(program, inputs, options);
  };
  // Between steps values are rounded to what buffers hold, where less than half
  // of a last bit is seldom seen.
  constexpr double kBits = 2;
  return BoundsOf(run, expected, tolerances, kBits);
}

}  // namespace mxc
