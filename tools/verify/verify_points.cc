// SPDX-License-Identifier: Apache-2.0
#include "tools/verify/verify_points.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <set>

namespace mxc {
namespace {

// Positive ones, for what is defined there; small ones, for what ends at 1, and
// for exponentials. Sums are as small as their terms only with parameters that
// are small, and positive with positive ones.
constexpr std::array kPoints = {
    Point{},
    Point{.inputs = {0.5, 1}},
    Point{.inputs = {1.0 / 16, 1.0 / 8}},
    Point{.inputs = {0.5, 1}, .magnitudes = true, .factor = 0.5},
    Point{.inputs = {1.0 / 16, 1.0 / 8}, .magnitudes = true, .factor = 0.25},
    Point{
        .inputs = {1.0 / 64, 1.0 / 32}, .magnitudes = true, .factor = 1.0 / 16},
};

Tensor Multiplied(const Tensor& value, double factor) {
  const DType dtype = value.type().dtype;
  std::byte* to = nullptr;
  Tensor product = Tensor::Allocate(value.type(), &to);
  for (int64_t i = 0; i < value.shape().elements(); ++i) {
    StoreElement(to + i * SizeOf(dtype), dtype, std::abs(value.At(i)) * factor);
  }
  return product;
}

std::set<std::string> ParametersOf(const Program& plain) {
  std::set<std::string> names;
  for (const int b : plain.BuffersOf(BufferKind::kOutput)) {
    const TensorUse& use = plain.buffers[b].use;
    if (use.role == TensorRole::kGradient) names.insert(use.of);
  }
  return names;
}

}  // namespace

size_t CountPoints() { return kPoints.size(); }

Point PointAt(size_t index) { return kPoints.at(index); }

std::string Describe(const Point& point) {
  std::string text = fmt::format("inputs drawn from {:.3g} to {:.3g}",
                                 point.inputs.low, point.inputs.high);
  if (point.magnitudes) {
    text += fmt::format(", the magnitudes of the drawn parameters times {:.3g}",
                        point.factor);
  }
  return text;
}

InputSource SourceAt(const Point& point, const InputSource& source,
                     const LoadedNetwork& network, const Program& plain) {
  InputSource there = source;
  there.range = point.inputs;
  if (!point.magnitudes) return there;
  const std::set<std::string> parameters = ParametersOf(plain);
  for (const auto& [name, value] : network.initial_values()) {
    if (!parameters.contains(name) || !IsFloat(value.type().dtype)) continue;
    there.states[name] = Multiplied(value, point.factor);
  }
  return there;
}

}  // namespace mxc
