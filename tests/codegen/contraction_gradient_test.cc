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
  const char* names[] = {"x86-64-v3", "x86-64-v4", "x86-64-v2"};
  for (int round = 0; round < rounds; ++round) {
    ConvolutionShape shape = RandomShape(pick);
    if (round % 3 == 0) DrawGroups(pick, shape);
    const Target target = *ResolveTarget(names[pick(0, 5) / 2 % 3]);
    if (!CanRun(target)) continue;
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
    CHECK(Check({c, Acc() * Residual(c) + Bias(c), pick(0, 1), pick(0, 1)},
                target, pick(0, 1000)) == "");
  });
}

TEST_CASE("gradients of data by Winograd's algorithm") {
  for (const int64_t pad : {0, 1, 2}) {
    const Contraction c = BackwardData({.batch = 2,
                                        .in = 40,
                                        .out = 36,
                                        .input = {9, 10},
                                        .kernel = {3, 3},
                                        .pad = {pad, pad}});
    for (const char* name : {"x86-64-v2", "x86-64-v3", "x86-64-v4"}) {
      const Target target = *ResolveTarget(name);
      if (!CanRun(target)) continue;
      int turned = 0;
      for (const auto& each : MakeKernelCatalog(target)->Candidates(c)) {
        turned += each.turned;
      }
      CHECK(turned == 2);
      CHECK(Check({c, Acc() + Bias(c), 0, 1}, target, 9) == "");
    }
  }
}

TEST_CASE("gradients of the weight") {
  ForRandomShapes(4, 60, [](const auto& shape, const auto& target, auto& pick) {
    const Contraction c = BackwardWeight(shape);
    if (shape.groups == 1) REQUIRE(HasKernel(c, target));
    if (!HasKernel(c, target)) return;
    CHECK(Check({c, Acc(), pick(0, 1)}, target, pick(0, 1000)) == "");
    if (shape.groups > 1 || shape.batch % 2 != 0) return;
    CHECK(Check({InParts(c, 2), Acc(), pick(0, 1)}, target, pick(0, 1000)) ==
          "");
  });
}

}  // namespace
}  // namespace mxc::test
