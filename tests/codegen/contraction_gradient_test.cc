// SPDX-License-Identifier: Apache-2.0
// The gradients of convolutions with respect to data and weight.
#include <doctest/doctest.h>

#include <random>

#include "codegen/codegen.h"
#include "tests/codegen/contraction_case.h"
#include "tests/codegen/native_kernel.h"

namespace mxc::test {
namespace {

using Pick = std::function<int64_t(int64_t low, int64_t high)>;

// A convolution whose windows lie inside the padded data, which may end with
// elements that no window reads.
ConvolutionShape RandomShape(const Pick& pick) {
  ConvolutionShape shape;
  const int64_t rank = pick(1, 3);
  shape.batch = pick(1, 4);
  shape.in = pick(1, 40);
  shape.out = pick(1, 40);
  for (int64_t i = 0; i < rank; ++i) {
    shape.kernel.push_back(pick(1, 4));
    shape.stride.push_back(pick(1, 3));
    shape.dilate.push_back(pick(1, 3));
    shape.pad.push_back(pick(0, 2));
    const int64_t window = (shape.kernel[i] - 1) * shape.dilate[i] + 1;
    shape.input.push_back(window + pick(0, rank == 1 ? 60 : 11));
  }
  return shape;
}

// Dense groups of whole blocks, single channels, or small groups.
void DrawGroups(const Pick& pick, ConvolutionShape& shape) {
  shape.groups = pick(2, 5);
  const int64_t kind = pick(0, 3);
  const int64_t in = kind == 0 ? 16 * pick(1, 2) : kind < 3 ? 1 : pick(1, 9);
  const int64_t out = kind == 0 ? 16 * pick(1, 3) : kind < 3 ? 1 : pick(1, 9);
  if (kind == 1 || kind == 2) shape.groups = pick(2, 37);
  shape.in = shape.groups * in;
  shape.out = shape.groups * out;
}

template <class F>
void ForRandomShapes(uint64_t seed, int rounds, F f) {
  std::mt19937_64 random(seed);
  const Pick pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  const std::vector<Target> targets = RunnableTargets();
  for (int round = 0; round < rounds; ++round) {
    ConvolutionShape shape = RandomShape(pick);
    if (round % 3 == 0) DrawGroups(pick, shape);
    const Target& target = targets[pick(0, 5) % targets.size()];
    CAPTURE(round);
    CAPTURE(target.name);
    CAPTURE(shape.groups);
    CAPTURE(shape.in);
    CAPTURE(shape.out);
    CAPTURE(ToString(shape.input));
    CAPTURE(ToString(shape.kernel));
    CAPTURE(ToString(shape.stride));
    CAPTURE(ToString(shape.dilate));
    CAPTURE(ToString(shape.pad));
    f(shape, target, pick);
  }
}

bool HasKernel(const Contraction& c, const Target& target) {
  return !MakeKernelCatalog(target)->Candidates(c).empty();
}

TEST_CASE("gradients of data") {
  ForRandomShapes(3, 60, [](const auto& shape, const auto& target, auto& pick) {
    const Contraction c = BackwardData(shape);
    if (shape.groups == 1) REQUIRE(HasKernel(c, target));
    if (!HasKernel(c, target)) return;
    CHECK(Check({c,
                 Acc() * Residual(c) + Bias(c),
                 pick(0, 1),
                 pick(0, 1),
                 {},
                 pick(0, 1) == 1},
                target, pick(0, 1000)) == "");
  });
}

TEST_CASE("gradients of data by Winograd's algorithm") {
  for (const int64_t pad : {0, 1, 2}) {
    const int64_t kernel = pad == 1 ? 5 : 3;
    const Contraction c = BackwardData({.batch = 2,
                                        .in = 40,
                                        .out = 36,
                                        .input = {9, 10},
                                        .kernel = {kernel, kernel},
                                        .pad = {pad, pad}});
    for (const Target& target : RunnableTargets()) {
      int flipped = 0;
      for (const auto& each : MakeKernelCatalog(target)->Candidates(c)) {
        flipped += each.flipped_weight;
      }
      CHECK(flipped == 2);
      CHECK(Check({c, Acc() + Bias(c), 0, 1}, target, 9) == "");
    }
  }
}

TEST_CASE("gradients of the weight") {
  ForRandomShapes(4, 60, [](const auto& shape, const auto& target, auto& pick) {
    const Contraction c = BackwardWeight(shape);
    if (shape.groups == 1) REQUIRE(HasKernel(c, target));
    if (!HasKernel(c, target)) return;
    const bool windows = pick(0, 1) == 1;
    CHECK(Check({c, Acc(), pick(0, 1), 0, {}, windows}, target,
                pick(0, 1000)) == "");
    if (shape.groups > 1 || shape.batch % 2 != 0) return;
    CHECK(Check({InParts(c, 2), Acc(), pick(0, 1), 0, {}, windows}, target,
                pick(0, 1000)) == "");
  });
}

// Blocks of 16 channels would be read for each of the single ones.
TEST_CASE("the gradient of a weight over one channel reads rows") {
  const ConvolutionShape text = {.batch = 50,
                                 .in = 1,
                                 .out = 100,
                                 .input = {56, 300},
                                 .kernel = {3, 300},
                                 .stride = {1, 1},
                                 .dilate = {1, 1},
                                 .pad = {0, 0}};
  for (const Target& target : RunnableTargets()) {
    CAPTURE(target.name);
    const auto kernels =
        MakeKernelCatalog(target, {})->Candidates(BackwardWeight(text));
    REQUIRE(!kernels.empty());
    CHECK(kernels.front().data_block == 1);
  }
}

// Tiles that hang over the end on either axis, channels that do not fill
// blocks, several blocks of tiles.
TEST_CASE("gradients of 3x3 and 5x5 weights by Winograd's algorithm") {
  struct {
    int64_t batch, in, out, kernel;
    Extents input, pad;
  } cases[] = {
      {2, 16, 16, 3, {8, 8}, {1, 1}},   {2, 40, 36, 3, {9, 10}, {0, 1}},
      {4, 17, 49, 3, {7, 5}, {2, 2}},   {6, 24, 70, 3, {30, 31}, {1, 1}},
      {2, 150, 40, 3, {3, 4}, {0, 0}},  {2, 33, 100, 3, {13, 6}, {1, 0}},
      {2, 20, 50, 5, {12, 12}, {0, 0}}, {4, 33, 17, 5, {11, 9}, {2, 1}}};
  int turn = 0;
  for (const auto& each : cases) {
    const Contraction c = BackwardWeight({.batch = each.batch,
                                          .in = each.in,
                                          .out = each.out,
                                          .input = each.input,
                                          .kernel = {each.kernel, each.kernel},
                                          .pad = each.pad});
    ++turn;  // in every case a target meets another manner
    CAPTURE(each.in);
    CAPTURE(each.out);
    for (const Target& target : RunnableTargets()) {
      int sums = 0;
      for (const auto& candidate : MakeKernelCatalog(target)->Candidates(c)) {
        sums += candidate.choice.algorithm.ends_with("_sums") &&
                candidate.choice.algorithm.starts_with("winograd");
      }
      CHECK(sums == 2);
      const int manner = turn++ % 3;
      if (manner == 2) {
        CHECK(Check({InParts(c, 2), Acc() * Residual(InParts(c, 2))}, target,
                    12, 3e-5) == "");
      } else {
        CHECK(Check({c, Acc(), each.in % 2, 0, {}, manner == 1}, target, 11,
                    3e-5) == "");
      }
    }
  }
}

TEST_CASE("gradients of the weight of small groups") {
  for (const int64_t channels : {2, 4, 8}) {
    for (const int64_t stride : {1, 2}) {
      const Contraction c = BackwardWeight({.batch = 3,
                                            .groups = 5,
                                            .in = 5 * channels,
                                            .out = 5 * channels,
                                            .input = {9, 12},
                                            .kernel = {3, 3},
                                            .stride = {stride, stride},
                                            .pad = {1, 1}});
      CAPTURE(channels);
      CAPTURE(stride);
      for (const Target& target : RunnableTargets()) {
        REQUIRE(HasKernel(c, target));
        CHECK(Check({c, Acc(), 1, 0, {}, stride == 1}, target, 13) == "");
      }
    }
  }
}

}  // namespace
}  // namespace mxc::test
