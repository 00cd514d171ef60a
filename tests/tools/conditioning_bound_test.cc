// SPDX-License-Identifier: Apache-2.0
#include "tools/conditioning_bound.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "ir/program/add_buffer.h"
#include "ir/program/interpreter.h"

namespace mxc {
namespace {

constexpr int64_t kElements = 1000;

// (x · 0.005 + shift − mean) · factor of kElements numbers x, with that mean.
struct Normalization {
  explicit Normalization(double shift, double factor) {
    const TensorType type = {DType::kF32, Shape({kElements})};
    for (const BufferKind kind : {BufferKind::kInput, BufferKind::kOutput}) {
      AddBuffer(program, "", type, kind);
    }
    step.inputs = {0};
    step.outputs = {1};
    const Expr x = Load(0, DType::kF32, {Var(0)});
    const Expr moved = x * Constant(0.005) + Constant(shift);
    step.body = Map{
        {{0, {0}, {kElements}, (moved - Constant(shift)) * Constant(factor)}}};
    std::vector<float> values;
    for (int64_t i = 0; i < kElements; ++i) {
      values.push_back(static_cast<float>(std::sin(0.7 * (i + 1.0))));
    }
    operands = {Tensor::FromFloats(type.shape, values)};
    expected = InterpretStep(program, step, operands);
  }

  std::vector<float> Bounds() const {
    const auto bounds =
        ConditioningBounds(program, step, operands, expected, Tolerance());
    REQUIRE(bounds.size() == 1);
    return {bounds[0].floats().begin(), bounds[0].floats().end()};
  }

  // As a processor computes it that rounds every result to f32.
  std::vector<float> InSingle(float shift, float factor) const {
    std::vector<float> results;
    for (const float x : operands[0].floats()) {
      const volatile float product = x * 0.005F;
      const volatile float moved = product + shift;
      const volatile float centred = moved - shift;
      results.push_back(centred * factor);
    }
    return results;
  }

  Program program;
  Step step;
  std::vector<Tensor> operands, expected;
};

}  // namespace

TEST_CASE("conditioning: rounding in f32 stays within the bounds") {
  const Normalization steep(-1, 200);
  const std::vector<float> bounds = steep.Bounds();
  const std::vector<float> found = steep.InSingle(-1, 200);
  const Tolerance tolerance;
  int beyond_tolerance = 0;
  for (int64_t i = 0; i < kElements; ++i) {
    const double expected = steep.expected[0].At(i);
    const double error = std::abs(found[i] - expected);
    CHECK(error <= bounds[i]);
    if (error > 1e-5) ++beyond_tolerance;
    // 2^-24 · 200 is 1.2e-5: what is wrong by more is found.
    CHECK(bounds[i] < AllowedError(tolerance, expected, 1, DType::kF32) + 4e-4);
  }
  // Else the bounds would not be needed here.
  CHECK(beyond_tolerance > kElements / 100);
}

TEST_CASE("conditioning: where nothing is lost, bounds are the tolerance") {
  const Normalization flat(0, 200);
  const std::vector<float> bounds = flat.Bounds();
  const Tolerance tolerance;
  for (int64_t i = 0; i < kElements; ++i) {
    const double expected = flat.expected[0].At(i);
    const double allowed = AllowedError(tolerance, expected, 1, DType::kF32);
    CHECK(bounds[i] >= allowed * (1 - 1e-6));
    CHECK(bounds[i] <= allowed + 3e-6);
  }
}

}  // namespace mxc
