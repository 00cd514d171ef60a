// SPDX-License-Identifier: Apache-2.0
// Matrix products, convolutions of small groups, epilogues.
#include <doctest/doctest.h>

#include <random>

#include "codegen/codegen.h"
#include "tests/codegen/contraction_case.h"
#include "tests/codegen/native_kernel.h"

namespace mxc::test {
namespace {

Expr Sigmoid(Expr x) {
  return Constant(1) / (Constant(1) + Exp(-std::move(x)));
}

// Calls f for every target that this machine runs.
template <class F>
void ForEachTarget(F f) {
  for (const Target& target : RunnableTargets()) {
    CAPTURE(target.name);
    f(target);
  }
}

TEST_CASE("matrix products") {
  const int64_t shapes[][4] = {
      // groups, rows, in, out
      {1, 1, 7, 5},    {1, 1, 100, 1000}, {1, 1, 64, 33},  {1, 2, 9, 17},
      {1, 37, 53, 29}, {1, 6, 128, 64},   {1, 29, 8, 100}, {1, 1, 1, 1},
      {5, 1, 12, 20},  {3, 14, 33, 40},   {2, 7, 1, 3},    {1, 2, 800, 500},
  };
  ForEachTarget([&](const Target& target) {
    for (const auto& [groups, rows, in, out] : shapes) {
      const Contraction c = Product(groups, rows, in, out);
      CAPTURE(groups);
      CAPTURE(rows);
      CAPTURE(in);
      CAPTURE(out);
      for (const bool windows : {false, true}) {
        CHECK(Check({c, Max(Acc() + Bias(c), Residual(c)), 0, 0, {}, windows},
                    target, 3) == "");
      }
    }
  });
}

TEST_CASE("a product of a transposed left side") {
  Contraction c = Product(1, 21, 30, 18);
  c.data_axes = {Role::kIn, Role::kBatch};
  c.weight_axes = {Role::kIn, Role::kOut};
  ForEachTarget(
      [&](const Target& target) { CHECK(Check({c, Acc()}, target, 3) == ""); });
}

// The reduction is cut into blocks, between which sums wait in an output where
// other elements follow those of the last vector.
TEST_CASE("products of long rows into few channels") {
  for (const int64_t channels : {3, 8, 24, 27, 40, 45}) {
    CAPTURE(channels);
    const Contraction c = Product(1, 30, 530, channels);
    ForEachTarget([&](const Target& target) {
      for (const bool windows : {false, true}) {
        CHECK(Check({c, Acc() + Residual(c), 0, 0, {}, windows}, target, 5) ==
              "");
      }
    });
  }
}

TEST_CASE("a product of a left side whose columns lie pages apart") {
  Contraction c = Product(1, 1030, 270, 24);
  c.data_axes = {Role::kIn, Role::kBatch};
  c.weight_axes = {Role::kIn, Role::kOut};
  ForEachTarget(
      [&](const Target& target) { CHECK(Check({c, Acc()}, target, 3) == ""); });
}

TEST_CASE("depthwise convolutions and small groups") {
  const ConvolutionShape shapes[] = {
      {.groups = 16,
       .in = 16,
       .out = 16,
       .input = {9, 14},
       .kernel = {3, 3},
       .pad = {1, 1}},
      {.batch = 2,
       .groups = 21,
       .in = 21,
       .out = 21,
       .input = {11, 7},
       .kernel = {3, 3},
       .stride = {2, 2},
       .pad = {1, 1}},
      {.groups = 8, .in = 8, .out = 8, .input = {40}, .kernel = {20}},
      {.groups = 8,
       .in = 8,
       .out = 8,
       .input = {6, 7, 8},
       .kernel = {2, 3, 3},
       .dilate = {1, 2, 1},
       .pad = {1, 1, 1}},
      {.groups = 10,
       .in = 40,
       .out = 40,
       .input = {8, 9},
       .kernel = {3, 3},
       .pad = {1, 1}},
      {.batch = 2,
       .groups = 12,
       .in = 24,
       .out = 24,
       .input = {8, 8},
       .kernel = {3, 3},
       .stride = {2, 2},
       .pad = {1, 1}},
      {.groups = 2, .in = 16, .out = 16, .input = {5, 5}, .kernel = {1, 1}},
  };
  ForEachTarget([&](const Target& target) {
    for (const ConvolutionShape& shape : shapes) {
      const Contraction c = Convolution(shape);
      CAPTURE(ToString(c.kernel));
      CAPTURE(c.in);
      if (MakeKernelCatalog(target)->Candidates(c).empty()) continue;
      for (const bool windows : {false, true}) {
        CHECK(Check({c, Acc() + Bias(c) + Residual(c), 0, 1, {}, windows},
                    target, 5) == "");
      }
    }
  });
}

TEST_CASE("epilogues of any expression, also of the position") {
  const Contraction c = Convolution({.batch = 2,
                                     .in = 12,
                                     .out = 20,
                                     .input = {10, 13},
                                     .kernel = {3, 3},
                                     .pad = {1, 1}});
  const Contraction pointwise = Convolution(
      {.batch = 2, .in = 12, .out = 20, .input = {10, 13}, .kernel = {1, 1}});
  ForEachTarget([&](const Target& target) {
    for (const Contraction& each : {c, pointwise}) {
      CHECK(Check({each, Sigmoid(Acc() + Bias(each))}, target, 7) == "");
      CHECK(Check({each, Acc() * Tanh(Residual(each))}, target, 7) == "");
      // Reads along a row, and the column as a value.
      const Expr edge = Load(3, DType::kF32, {Var(0), Var(1), Var(2), Expr(0)});
      CHECK(Check({each, Acc() + edge}, target, 7) == "");
      const Expr column = Cast(Var(3), DType::kF32);
      CHECK(Check({each, Acc() + column}, target, 7) == "");
      const Expr kept = Select(Var(2) < Expr(4), Acc(), Constant(0));
      CHECK(Check({each, kept}, target, 7) == "");
    }
  });
}

}  // namespace
}  // namespace mxc::test
