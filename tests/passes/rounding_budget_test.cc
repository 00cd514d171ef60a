// SPDX-License-Identifier: Apache-2.0
#include "passes/rounding_budget.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "ir/program/add_buffer.h"

namespace mxc {
namespace {

using Kernels = std::vector<std::vector<RoundedKernel>>;

int AddStep(Program& program, std::vector<int> inputs) {
  Step step;
  step.inputs = std::move(inputs);
  step.outputs = {AddBuffer(program, "", {DType::kF32, Shape({1})})};
  program.steps.push_back(step);
  return step.outputs[0];
}

Program Chain(int steps) {
  Program program;
  int buffer = AddBuffer(program, "", {DType::kF32, Shape({1})});
  for (int i = 0; i < steps; ++i) buffer = AddStep(program, {buffer});
  return program;
}

TEST_CASE("a chain within its budget keeps its fastest kernels") {
  const Kernels kernels(4, {{4, 1}, {1, 2}});
  CHECK(RoundingLimits(Chain(4), kernels, 16) ==
        std::vector<double>{4, 4, 4, 4});
}

TEST_CASE("the steps change whose exactness costs least") {
  Kernels kernels(4, {{4, 1}, {1, 2}});
  kernels[2] = {{4, 1}, {1, 1.5}};
  kernels[0] = {{4, 1}, {1, 1.6}};
  // 16 to 13, then to 10.
  CHECK(RoundingLimits(Chain(4), kernels, 13) ==
        std::vector<double>{4, 4, 1, 4});
  CHECK(RoundingLimits(Chain(4), kernels, 10) ==
        std::vector<double>{1, 4, 1, 4});
}

TEST_CASE("a budget that cannot be met is met as far as it can be") {
  const Kernels kernels = {{{4, 1}, {1, 2}}, {}, {{4, 1}}};
  const std::vector<double> limits = RoundingLimits(Chain(3), kernels, 0);
  CHECK(limits[0] == 1);
  CHECK(std::isinf(limits[1]));
  CHECK(limits[2] == 4);
}

TEST_CASE("ways beside each other do not add up") {
  Program program;
  const int data = AddBuffer(program, "", {DType::kF32, Shape({1})});
  const int left = AddStep(program, {data}), right = AddStep(program, {data});
  AddStep(program, {left, right});
  const Kernels kernels(3, {{4, 1}, {1, 2}});
  CHECK(RoundingLimits(program, kernels, 8) == std::vector<double>{4, 4, 4});
}

}  // namespace
}  // namespace mxc
