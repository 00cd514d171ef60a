// SPDX-License-Identifier: Apache-2.0
// Convolutions of dense groups: blocked data, and row-major data.
#include <doctest/doctest.h>

#include <random>

#include "tests/codegen/contraction_case.h"
#include "tests/codegen/native_kernel.h"

namespace mxc::test {
namespace {

TEST_CASE("convolutions of the networks we know") {
  const ConvolutionShape shapes[] = {
      {.in = 16, .out = 16, .input = {8, 8}, .kernel = {3, 3}, .pad = {1, 1}},
      {.in = 3,
       .out = 20,
       .input = {19, 23},
       .kernel = {7, 7},
       .stride = {2, 2},
       .pad = {3, 3}},
      {.in = 20, .out = 50, .input = {12, 12}, .kernel = {5, 5}},
      {.in = 64, .out = 40, .input = {14, 14}, .kernel = {1, 1}},
      {.in = 64,
       .out = 64,
       .input = {14, 14},
       .kernel = {1, 1},
       .stride = {2, 2}},
      {.batch = 3,
       .in = 40,
       .out = 32,
       .input = {7, 7},
       .kernel = {3, 3},
       .pad = {1, 1}},
      {.in = 16, .out = 24, .input = {17, 17}, .kernel = {1, 7}, .pad = {0, 3}},
      {.in = 16, .out = 24, .input = {17, 17}, .kernel = {7, 1}, .pad = {3, 0}},
      {.batch = 5, .in = 33, .out = 10, .input = {1, 1}, .kernel = {1, 1}},
      {.in = 8, .out = 16, .input = {50}, .kernel = {5}, .dilate = {3}},
      {.in = 8,
       .out = 16,
       .input = {5, 6, 7},
       .kernel = {3, 2, 3},
       .pad = {1, 0, 1}},
      {.groups = 2,
       .in = 64,
       .out = 96,
       .input = {9, 9},
       .kernel = {3, 3},
       .pad = {1, 1}},
  };
  for (const Target& target : RunnableTargets()) {
    for (const ConvolutionShape& shape : shapes) {
      const Contraction c = Convolution(shape);
      CAPTURE(target.name);
      CAPTURE(ToString(c.kernel));
      CAPTURE(ToString(c.input));
      for (const bool windows : {false, true}) {
        CHECK(Check({c, Relu(Acc() + Bias(c) + Residual(c)), 1, 2, {}, windows},
                    target, 1) == "");
      }
    }
  }
}

TEST_CASE("random convolutions") {
  std::mt19937_64 random(7);
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  const std::vector<Target> targets = RunnableTargets();
  for (size_t round = 0; round < 40; ++round) {
    ConvolutionShape shape;
    const int64_t rank = pick(1, 3);
    shape.batch = pick(1, 3);
    shape.in = pick(1, 40);
    shape.out = pick(1, 70);
    for (int64_t i = 0; i < rank; ++i) {
      shape.kernel.push_back(pick(1, 4));
      shape.stride.push_back(pick(1, 3));
      shape.dilate.push_back(pick(1, 2));
      shape.pad.push_back(pick(0, 2));
      const int64_t window =
          (shape.kernel.back() - 1) * shape.dilate.back() + 1;
      shape.input.push_back(window + pick(0, rank == 1 ? 90 : 14));
    }
    const Contraction c = Convolution(shape);
    const Target& target = targets[(round + 1) % targets.size()];
    CAPTURE(target.name);
    CAPTURE(round);
    CHECK(Check({c,
                 Relu(Acc() + Bias(c)),
                 pick(0, 1),
                 pick(0, 1),
                 {},
                 round / 2 % 2 == 1},
                target, random()) == "");
  }
}

}  // namespace
}  // namespace mxc::test
