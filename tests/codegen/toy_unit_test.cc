// SPDX-License-Identifier: Apache-2.0
// A unit that no processor has, as a row of a machine's products and nothing
// else: its kernels are chosen for its types, and compute what the interpreter
// does.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "tests/codegen/contraction_case.h"
#include "tests/codegen/native_kernel.h"

namespace mxc::test {
namespace {

constexpr double kFast = 1e14;

struct Toy {
  DType element, sum;
  int channels;
  std::string_view algorithm;
  double tolerance;
};

constexpr Toy kToys[] = {{DType::kI8, DType::kI32, 4, "quads", 0},
                         {DType::kI8, DType::kI32, 2, "pairs", 0},
                         {DType::kBF16, DType::kF32, 2, "pairs", 0x1p-8},
                         {DType::kF16, DType::kF32, 4, "quads", 0x1p-10}};

Target WithToy(Target target, const Toy& toy) {
  const int lanes = target.machine.lanes(toy.sum);
  target.machine.products = {{"toy", toy.element, toy.element, toy.sum, 1,
                              lanes, toy.channels, kFast}};
  return target;
}

std::vector<std::string> AlgorithmsFor(const Contraction& c,
                                       const Target& target) {
  std::vector<std::string> algorithms;
  for (const auto& each : MakeKernelCatalog(target)->Candidates(c)) {
    algorithms.push_back(each.choice.algorithm);
  }
  return algorithms;
}

TEST_CASE("a unit is chosen for its types, and for no others") {
  const Contraction c = Convolution({.batch = 1,
                                     .in = 64,
                                     .out = 64,
                                     .input = {14, 14},
                                     .kernel = {3, 3},
                                     .pad = {1, 1}});
  for (const Toy& toy : kToys) {
    CAPTURE(ShortName(toy.element));
    const Target target = WithToy(*ResolveTarget("x86-64-v3"), toy);
    CHECK(AlgorithmsFor(Typed(c, toy.element), target)[0] == toy.algorithm);
    for (const DType other : {DType::kF32, DType::kI16, DType::kU8}) {
      const auto algorithms = AlgorithmsFor(Typed(c, other), target);
      CHECK(!algorithms.empty());
      CHECK(std::ranges::count(algorithms, toy.algorithm) == 0);
    }
    Contraction mixed = Typed(c, toy.element);
    mixed.types.weight = DType::kF32;
    CHECK(std::ranges::count(AlgorithmsFor(mixed, target), toy.algorithm) == 0);
  }
}

TEST_CASE("a unit of whole rows of registers is left to those that have one") {
  Target target = WithToy(*ResolveTarget("x86-64-v3"), kToys[0]);
  target.machine.products[0].m = 16;
  const Contraction c = Convolution(
      {.batch = 1, .in = 32, .out = 32, .input = {9, 9}, .kernel = {3, 3}});
  const auto algorithms = AlgorithmsFor(Typed(c, DType::kI8), target);
  CHECK(!algorithms.empty());
  CHECK(std::ranges::count(algorithms, "quads") == 0);
}

TEST_CASE("kernels of a unit compute what the interpreter does") {
  std::mt19937_64 random(9);
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  for (const Target& level : RunnableTargets()) {
    CAPTURE(level.name);
    for (const Toy& toy : kToys) {
      CAPTURE(ShortName(toy.element));
      CAPTURE(toy.channels);
      const Target target = WithToy(level, toy);
      ConvolutionShape shape = {
          .batch = pick(1, 3), .in = 16 * pick(1, 3), .out = pick(1, 50)};
      for (int axis = 0; axis < 2; ++axis) {
        shape.kernel.push_back(pick(1, 3));
        shape.stride.push_back(pick(1, 2));
        shape.pad.push_back(pick(0, 1));
        shape.input.push_back(shape.kernel[axis] + pick(0, 15));
      }
      const Contraction c = Typed(Convolution(shape), toy.element);
      REQUIRE(AlgorithmsFor(c, target)[0] == toy.algorithm);
      const Expr value = Relu(Acc(toy.sum) + Bias(c) + Residual(c));
      CHECK(Check({c, value}, target, 41, toy.tolerance) == "");
    }
  }
}

}  // namespace
}  // namespace mxc::test
