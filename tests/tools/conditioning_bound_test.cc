// SPDX-License-Identifier: Apache-2.0
#include "tools/verify/conditioning_bound.h"

#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "ir/program/add_buffer.h"
#include "ir/program/interpreter.h"
#include "ir/program/steps/contraction.h"
#include "ir/program/steps/map.h"
#include "tests/tools/contractions.h"

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

namespace {

// 1 / (x · 0.001 + 1 - 1): what rounds in the sum is magnified by the next step.
Program MagnifyingProgram(const TensorType& type) {
  Program program;
  const int x = AddBuffer(program, "x", type, BufferKind::kInput);
  const int sum = AddBuffer(program, "sum", type);
  const int y = AddBuffer(program, "y", type, BufferKind::kOutput);
  const auto map = [&](int from, int to, const Expr& value) {
    Step step;
    step.inputs = {from};
    step.outputs = {to};
    step.body = Map{{{0, {0}, {kElements}, value}}};
    program.steps.push_back(step);
  };
  const Expr value = Load(0, DType::kF32, {Var(0)});
  map(x, sum, value * Constant(0.001) + Constant(1));
  map(sum, y, Constant(1) / (value - Constant(1)));
  return program;
}

// Sums of products that cancel out in pairs: those of channel k and of channel
// k + 4.
Program CancellingProgram() {
  const Contraction c = SquareConvolution(8, 1, 6);
  Program program;
  AddBuffer(program, "", {DType::kF32, {1, 8, 6, 6}}, BufferKind::kInput);
  AddBuffer(program, "", {DType::kF32, {1, 8, 3, 3}}, BufferKind::kInput);
  AddBuffer(program, "", {DType::kF32, {1, 1, 6, 6}}, BufferKind::kOutput);
  Step step;
  step.inputs = {0, 1};
  step.outputs = {2};
  step.body = ContractionStep{c, Acc(), {}};
  program.steps = {step};
  return program;
}

float DataAt(int64_t channel, int64_t at) {
  return static_cast<float>(
      1000 * std::sin(static_cast<double>(channel % 4 * 36 + at) + 1));
}

float WeightAt(int64_t channel, int64_t at) {
  const double value = std::cos(static_cast<double>(channel % 4 * 9 + at));
  return static_cast<float>(channel < 4 ? value : -value);
}

// As a processor adds the products that rounds each result to f32.
float CancellingSum(int64_t y, int64_t x) {
  volatile float sum = 0;
  for (int64_t channel = 0; channel < 8; ++channel) {
    for (int64_t k = 0; k < 9; ++k) {
      const int64_t row = y + k / 3 - 1, column = x + k % 3 - 1;
      if (row < 0 || row >= 6 || column < 0 || column >= 6) continue;
      const volatile float product =
          DataAt(channel, row * 6 + column) * WeightAt(channel, k);
      sum = sum + product;
    }
  }
  return sum;
}

}  // namespace

TEST_CASE("conditioning: of a program, what later steps make of roundings") {
  const TensorType type = {DType::kF32, Shape({kElements})};
  const Program program = MagnifyingProgram(type);
  std::vector<float> values;
  for (int64_t i = 0; i < kElements; ++i) {
    values.push_back(static_cast<float>(0.05 + std::abs(std::sin(0.7 * i))));
  }
  const std::map<std::string, Tensor> inputs = {
      {"x", Tensor::FromFloats(type.shape, values)}};
  const auto expected = Interpret(program, inputs);
  REQUIRE(expected.ok());
  const std::vector<Tolerance> tolerances(1);
  const auto bounds =
      ConditioningBounds(program, inputs, *expected, tolerances);
  REQUIRE(bounds.ok());
  const double scale = LargestMagnitude((*expected)[0]);
  int beyond_tolerance = 0;
  for (int64_t i = 0; i < kElements; ++i) {
    // As optimization leaves it that sees that 1 - 1 is 0.
    const double found = 1 / static_cast<double>(values[i] * 0.001F);
    const double y = (*expected)[0].At(i);
    const double error = std::abs(found - y), bound = (*bounds)[0].At(i);
    CHECK(error <= bound);
    const double allowed = AllowedError(tolerances[0], y, scale, DType::kF32);
    if (error > allowed) ++beyond_tolerance;
    // The last bit of 1 is magnified by y²: what is wrong by more is found.
    CHECK(bound < allowed + 24 * 0x1p-24 * y * y);
  }
  CHECK(beyond_tolerance > 0);
}

TEST_CASE("conditioning: sums of products that cancel out") {
  const Program program = CancellingProgram();
  std::vector<float> data, weight;
  for (int64_t channel = 0; channel < 8; ++channel) {
    for (int64_t i = 0; i < 36; ++i) data.push_back(DataAt(channel, i));
    for (int64_t i = 0; i < 9; ++i) weight.push_back(WeightAt(channel, i));
  }
  const std::vector<Tensor> operands = {
      Tensor::FromFloats({1, 8, 6, 6}, data),
      Tensor::FromFloats({1, 8, 3, 3}, weight)};
  const Step& step = program.steps[0];
  const std::vector<Tensor> expected = InterpretStep(program, step, operands);
  const auto bounds =
      ConditioningBounds(program, step, operands, expected, Tolerance());
  REQUIRE(bounds.size() == 1);
  int beyond_tolerance = 0;
  for (int64_t i = 0; i < 36; ++i) {
    const double error =
        std::abs(CancellingSum(i / 6, i % 6) - expected[0].At(i));
    CHECK(error <= bounds[0].At(i));
    if (error > 1e-5) ++beyond_tolerance;
    // A wrong product is of the order of 1000, a last bit of the partial sums of
    // that of 1e-4.
    CHECK(bounds[0].At(i) < 0.05);
  }
  CHECK(beyond_tolerance > 18);
}

}  // namespace mxc
