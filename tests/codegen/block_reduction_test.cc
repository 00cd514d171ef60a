// SPDX-License-Identifier: Apache-2.0
// Long reductions on a device, which the threads of a block compute together.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "codegen/backend.h"
#include "tests/codegen/emulated_kernel.h"
#include "tests/codegen/map_case.h"

namespace mxc::test {
namespace {

// Of the case's only step.
// exp of x's element over the sum of its row's.
MapCase SoftmaxCase(Shape shape) {
  MapCase c;
  const int x = c.In(shape);
  c.Out(shape);
  const auto at = [&](Expr r) { return c.At(x, {Var(0), std::move(r)}); };
  const Expr most = MaxOver(shape[1], at);
  const Expr sum = SumOver(shape[1], [&](Expr r) { return Exp(at(r) - most); });
  c.Set(Exp(at(Var(1)) - most) / sum);
  return c;
}

// The variance of each column, which needs its mean.
MapCase VarianceCase(Shape shape) {
  MapCase c;
  const int x = c.In(shape);
  c.Out({shape[1]});
  const Expr scale = Constant(1.0 / static_cast<double>(shape[0]));
  const auto at = [&](Expr r) { return c.At(x, {std::move(r), Var(0)}); };
  const Expr mean = SumOver(shape[0], at) * scale;
  c.Set(SumOver(shape[0],
                [&](Expr r) {
                  const Expr from_mean = at(r) - mean;
                  return from_mean * from_mean;
                }) *
        scale);
  return c;
}

// Of each channel of images, with its channels outside of their pixels.
MapCase ChannelSumsCase(Shape shape) {
  MapCase c;
  const int x = c.In(shape);
  c.Out({shape[1]});
  const int n = FreshReductionVar(), i = FreshReductionVar();
  c.Set(Reduce(ReduceOp::kSum, {{n, 0, Expr(shape[0])}, {i, 0, Expr(shape[2])}},
               c.At(x, {Var(n), Var(0), Var(i)})));
  return c;
}

// How often threads of a block wait, and the results that come out if they do
// not wait at the n-th barrier; 0: at all of them.
std::vector<float> Results(const KernelPlan& plan, const EmulatedKernel& kernel,
                           std::vector<float>& x, size_t results, uint64_t seed,
                           uint32_t without) {
  std::vector<float> y(results + 8, NAN);
  // As the device's memory is aligned.
  auto* begin = reinterpret_cast<float*>(
      (reinterpret_cast<uintptr_t>(y.data()) + 15) / 16 * 16);
  const std::string wrong =
      kernel.Run({x.data(), begin}, plan.launch,
                 {.seed = seed, .without_barrier = without});
  if (!wrong.empty()) return {};
  return {begin, begin + results};
}

}  // namespace

TEST_CASE("a block has a row, or a few, and softmax waits in the output") {
  for (const Shape& shape :
       {Shape{5, 1000}, Shape{3, 77}, Shape{2, 8192}, Shape{1, 333}}) {
    CAPTURE(ToString(shape));
    MapCase c = SoftmaxCase(shape);
    CHECK(EmulatedPlanOf(c.program()).launch.grid[0] ==
          static_cast<uint32_t>(shape[0]));
    CHECK(EmulatedPlanOf(c.program()).launch.block[0] >= 32);
    CHECK(c.CheckAll() == "");
  }
}

TEST_CASE("threads of a block share the sums of columns") {
  for (const Shape& shape :
       {Shape{500, 24}, Shape{333, 7}, Shape{1000, 256}, Shape{90, 260}}) {
    CAPTURE(ToString(shape));
    MapCase c = VarianceCase(shape);
    // A warp by itself needs no shared memory.
    const mxc_launch launch = EmulatedPlanOf(c.program()).launch;
    CHECK((launch.shared_bytes > 0 || launch.block[0] == 32));
    CHECK(launch.grid[0] * launch.block[0] > static_cast<uint32_t>(shape[1]));
    CHECK(c.CheckAll() == "");
  }
}

TEST_CASE("sums over images and their pixels run along the pixels") {
  for (const Shape& shape : {Shape{8, 6, 80}, Shape{4, 3, 49}}) {
    CAPTURE(ToString(shape));
    MapCase c = ChannelSumsCase(shape);
    CHECK(EmulatedPlanOf(c.program()).launch.block[0] >= 32);
    CHECK(c.CheckAll(1e-5) == "");
  }
}

TEST_CASE("a long sum and a short one over the same variable") {
  for (const int64_t few : {3, 4, 8, 20}) {
    CAPTURE(few);
    MapCase c;
    const int x = c.In({4096}), y = c.In({DType::kF64, {few}});
    c.Out({1});
    const int r = FreshReductionVar();
    const auto sum = [&](int operand, int64_t extent) {
      return Reduce(ReduceOp::kSum, {{r, 0, Expr(extent)}},
                    c.At(operand, {Var(r)}));
    };
    c.Set(sum(x, 4096) + Cast(sum(y, few), DType::kF32));
    CHECK(EmulatedPlanOf(c.program()).launch.block[0] >= 32);
    CHECK(c.CheckAll(1e-5) == "");
  }
}

// next = a loss is finite ? before + the gradient's sum : before.
TEST_CASE("a condition that is the same for all leaves sums to the block") {
  MapCase c;
  const int x = c.In({3000, 12}), before = c.In({12}), loss = c.In({1});
  c.Out({12});
  const Expr value = c.At(loss, {0});
  const Expr sum =
      SumOver(3000, [&](Expr r) { return c.At(x, {std::move(r), Var(0)}); });
  const Expr old = c.At(before, {Var(0)});
  c.Set(Select(value - value == Constant(0), old + sum, old));
  const mxc_launch launch = EmulatedPlanOf(c.program()).launch;
  CHECK(launch.grid[0] * launch.block[0] > 12 * 32);
  CHECK(c.CheckAll(1e-5) == "");
}

TEST_CASE("a sum that a result's own condition asks for is its thread's") {
  MapCase c;
  const int x = c.In({3000, 12});
  c.Out({16});
  // Columns of which four are not there.
  const Expr sum = SumOver(
      3000, [&](Expr r) { return c.At(x, {std::move(r), Var(0) - Expr(4)}); });
  c.Set(Select(Expr(4) <= Var(0), sum, Constant(0)));
  CHECK(EmulatedPlanOf(c.program()).launch.grid[0] == 1);
  CHECK(c.CheckAll(1e-5) == "");
}

TEST_CASE("few terms, or results enough, take a thread each") {
  MapCase few = SoftmaxCase({5, 40});
  CHECK(EmulatedPlanOf(few.program()).launch.shared_bytes == 0);
  CHECK(EmulatedPlanOf(few.program()).launch.block[0] == 128);
  MapCase many = VarianceCase({70, 1 << 20});
  CHECK(EmulatedPlanOf(many.program()).launch.shared_bytes == 0);
}

TEST_CASE("each barrier is needed, and any order of threads gives the bytes") {
  const Shape shape = {4, 8192};
  MapCase c = SoftmaxCase(shape);
  const KernelPlan plan = EmulatedPlanOf(c.program());
  const EmulatedKernel kernel(EmulatedTarget(), plan.write);
  const auto count = static_cast<size_t>(shape.elements());
  std::vector<float> x(count);
  for (size_t i = 0; i < count; ++i) x[i] = std::sin(static_cast<float>(i));
  const auto run = [&](uint64_t seed, uint32_t without) {
    return Results(plan, kernel, x, count, seed, without);
  };
  const std::vector<float> expected = run(0, 0);
  REQUIRE(!expected.empty());
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    const std::vector<float> other = run(seed, 0);
    REQUIRE(other.size() == count);
    CHECK(std::memcmp(other.data(), expected.data(), count * 4) == 0);
  }
  // The maxima of warps meet, then their sums.
  for (const uint32_t barrier : {1u, 2u}) {
    CHECK(run(1, barrier) != expected);
  }
  CHECK(run(1, 3) == expected);
}

}  // namespace mxc::test
