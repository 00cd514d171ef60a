// SPDX-License-Identifier: Apache-2.0
// Products by a device's units for matrices, on an emulated device.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "codegen/cuda/product_shape.h"
#include "ir/target/cuda_target.h"
#include "tests/codegen/contraction_case.h"
#include "tests/codegen/device_step.h"

namespace mxc::test {
namespace {

// Row-major, or with the channels of data and output side by side.
KernelCandidate CandidateFor(const Contraction& c, bool channels_last) {
  const auto found = ProductCandidates(c, GpuMachineOf(EmulatedTarget()));
  const auto plain = std::ranges::find_if(found, [](const auto& each) {
    return !ProductOf(each.choice).channels_last;
  });
  REQUIRE(plain != found.end());
  KernelCandidate candidate = *plain;
  if (channels_last) {
    candidate.data_block = candidate.output_block = kWholeAxis;
    candidate.weight_block = kWholeAxis;
  }
  return candidate;
}

ContractionCase WithEpilogue(const Contraction& c) {
  return {c, Relu(Acc(DType::kF32) + Bias(c)) + Residual(c)};
}

// `bound`: the error of the output's type, beside its largest element.
void CheckProduct(const Contraction& c, bool channels_last,
                  double bound = 1e-6) {
  DeviceStep product(Build(WithEpilogue(c), CandidateFor(c, channels_last)));
  const std::vector<float> y = product.Run({});
  REQUIRE(product.wrong() == "");
  CHECK(product.Error(y) < bound);
}

// Orders of blocks, warps and lanes give the same bytes; without any of the
// barriers some order does not, and there are no more of them.
void CheckThatEachIsNeeded(DeviceStep& product, int barriers) {
  const std::vector<float> expected = product.Run({});
  REQUIRE(!expected.empty());
  const auto differs = [&](const std::vector<float>& other) {
    return other.size() != expected.size() ||
           std::memcmp(other.data(), expected.data(), 4 * other.size()) != 0;
  };
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    CHECK(!differs(product.Run({.backwards = true, .seed = seed})));
  }
  for (int barrier = 1; barrier <= barriers; ++barrier) {
    CAPTURE(barrier);
    bool noticed = false;
    for (uint64_t seed = 1; seed <= 8 && !noticed; ++seed) {
      noticed = differs(product.Run(
          {.seed = seed, .without_barrier = static_cast<uint32_t>(barrier)}));
    }
    CHECK(noticed);
  }
  CHECK(!differs(product.Run(
      {.seed = 1, .without_barrier = static_cast<uint32_t>(barriers + 1)})));
}

const ConvolutionShape kConvolutions[] = {
    {.batch = 2,
     .in = 16,
     .out = 40,
     .input = {9, 8},
     .kernel = {3, 3},
     .pad = {1, 1}},
    {.batch = 3,
     .in = 12,
     .out = 36,
     .input = {11, 13},
     .kernel = {3, 2},
     .stride = {2, 2},
     .dilate = {1, 2},
     .pad = {1, 0}},
    {.batch = 2,
     .groups = 2,
     .in = 24,
     .out = 32,
     .input = {8, 8},
     .kernel = {3, 3},
     .pad = {1, 1}},
    {.batch = 2, .in = 64, .out = 20, .input = {7, 7}, .kernel = {1, 1}},
    {.batch = 5,
     .in = 10,
     .out = 17,
     .input = {33},
     .kernel = {4},
     .stride = {3},
     .pad = {2}},
    {.batch = 1,
     .in = 8,
     .out = 16,
     .input = {5, 6, 7},
     .kernel = {2, 3, 2},
     .pad = {1, 1, 0}},
};

}  // namespace

TEST_CASE("convolutions, in any layout, with any epilogue") {
  for (const ConvolutionShape& shape : kConvolutions) {
    for (const bool channels_last : {false, true}) {
      CAPTURE(shape.in);
      CAPTURE(channels_last);
      CheckProduct(Convolution(shape), channels_last);
    }
  }
}

TEST_CASE("gradients of their data and of their weights") {
  for (const ConvolutionShape& shape : kConvolutions) {
    CAPTURE(shape.in);
    CheckProduct(BackwardData(shape), true);
    if (shape.groups == 1) CheckProduct(BackwardWeight(shape), false);
  }
}

TEST_CASE("products of matrices") {
  CheckProduct(Product(1, 70, 100, 33), false);
  CheckProduct(Product(1, 128, 64, 64), false);
  CheckProduct(Product(3, 40, 50, 24), false);
}

// Nothing but the order of sums differs from the interpreter: products of 16 bits
// are exact in f32. An output of 16 bits may round to the other neighbour.
TEST_CASE("operands of 16 bits are multiplied as such") {
  struct Type {
    DType dtype;
    const char* algorithm;
    double last_place;
  };
  for (const auto& [dtype, algorithm, last_place] :
       {Type{DType::kBF16, kMmaBf16Algorithm, 0x1p-7},
        Type{DType::kF16, kMmaF16Algorithm, 0x1p-10}}) {
    CAPTURE(algorithm);
    // The types differ in the instruction alone.
    const size_t shapes = dtype == DType::kBF16 ? std::size(kConvolutions) : 1;
    for (const ConvolutionShape& shape : std::span(kConvolutions, shapes)) {
      CAPTURE(shape.in);
      const Contraction c = Typed(Convolution(shape), dtype, DType::kF32);
      CHECK(CandidateFor(c, false).choice.algorithm == algorithm);
      for (const bool channels_last : {false, true}) {
        CheckProduct(c, channels_last);
      }
    }
    const ConvolutionShape& shape = kConvolutions[0];
    CheckProduct(Typed(BackwardData(shape), dtype), true, last_place);
    for (const bool channels_last : {false, true}) {
      CheckProduct(Typed(BackwardWeight(shape), dtype, DType::kF32),
                   channels_last);
    }
    CheckProduct(Typed(Product(1, 70, 100, 33), dtype, DType::kF32), false);
    CheckProduct(Typed(Product(3, 40, 50, 24), dtype), false, last_place);
  }
}

namespace {

GpuMachine WithWarpgroups() {
  return GpuMachineOf(*CudaTarget("cuda:sm_90a", EmulatedTarget()));
}

// Of each tile that warpgroups have for it, the choice.
std::vector<KernelCandidate> ByWarpgroups(const Contraction& c) {
  std::vector<KernelCandidate> candidates;
  for (const auto& each : ProductCandidates(c, WithWarpgroups())) {
    const bool is_one =
        each.choice.algorithm.starts_with("wgmma") && each.parts <= 1;
    if (is_one) candidates.push_back(each);
  }
  return candidates;
}

// Both sides fill vectors: along the depth, along the lines.
const ConvolutionShape kOfVectors = {.batch = 3,
                                     .in = 24,
                                     .out = 72,
                                     .input = {9, 7},
                                     .kernel = {3, 3},
                                     .pad = {1, 1}};

}  // namespace

TEST_CASE("warpgroups multiply operands of 16 bits, in any tile") {
  for (const DType dtype : {DType::kBF16, DType::kF16}) {
    const Contraction cases[] = {
        Convolution(kOfVectors), BackwardData(kOfVectors),
        BackwardWeight(kOfVectors), Product(1, 136, 200, 80),
        Product(2, 72, 136, 40)};
    size_t tiles = 0;
    for (const Contraction& c : cases) {
      const Contraction typed = Typed(c, dtype, DType::kF32);
      for (const KernelCandidate& candidate : ByWarpgroups(typed)) {
        CAPTURE(DescribeProduct(candidate.choice));
        DeviceStep product(Build(WithEpilogue(typed), candidate));
        const std::vector<float> y = product.Run({});
        REQUIRE(product.wrong() == "");
        CHECK(product.Error(y) < 1e-6);
        ++tiles;
      }
    }
    CHECK(tiles >= 10);
  }
}

TEST_CASE("of warpgroups each barrier and each fence is needed") {
  const Contraction c =
      Typed(Convolution(kOfVectors), DType::kBF16, DType::kF32);
  const auto found = ByWarpgroups(c);
  REQUIRE(!found.empty());
  DeviceStep product(Build(WithEpilogue(c), found[0]));
  // A fence and a barrier for each 64 of the depth, and two around the sums.
  CheckThatEachIsNeeded(product, 2 * ((24 * 9 + 63) / 64) + 2);
}

TEST_CASE("warpgroups are for devices that have them, and for wide copies") {
  const auto is_by_warpgroups = [](const KernelCandidate& each) {
    return each.choice.algorithm.starts_with("wgmma");
  };
  const Contraction c = Typed(Convolution(kOfVectors), DType::kBF16);
  CHECK(std::ranges::none_of(
      ProductCandidates(c, GpuMachineOf(EmulatedTarget())), is_by_warpgroups));
  CHECK(is_by_warpgroups(ProductCandidates(c, WithWarpgroups())[0]));
  // f32, and three colours.
  CHECK(ByWarpgroups(Convolution(kOfVectors)).empty());
  ConvolutionShape colours = kOfVectors;
  colours.in = 3;
  CHECK(ByWarpgroups(Typed(Convolution(colours), DType::kBF16)).empty());
}

TEST_CASE("operands of 16 bits beside f32 are multiplied as f32") {
  for (const DType dtype : {DType::kBF16, DType::kF16}) {
    for (const bool is_data : {true, false}) {
      for (const bool channels_last : {false, true}) {
        Contraction c = Convolution(kConvolutions[0]);
        (is_data ? c.types.data : c.types.weight) = dtype;
        CHECK(CandidateFor(c, false).choice.algorithm == kMmaAlgorithm);
        CheckProduct(c, channels_last);
      }
    }
  }
}

TEST_CASE("infinities and the largest numbers, as products of f32 have them") {
  constexpr int64_t kRows = 70, kDepth = 40, kColumns = 33;
  const Contraction c = Product(1, kRows, kDepth, kColumns);
  DeviceStep product(Build({c, Acc(DType::kF32)}, CandidateFor(c, false)));
  constexpr float kMost = std::numeric_limits<float>::max();
  const auto data = [&](int64_t row, int64_t k, float x) {
    product.Set(0, row * kDepth + k, x);
  };
  const auto weight = [&](int64_t column, int64_t k, float x) {
    product.Set(1, column * kDepth + k, x);
  };
  data(3, 5, INFINITY);
  data(17, 9, -INFINITY);
  data(20, 0, INFINITY);  // less itself, where the weights have one sign
  data(20, 39, -INFINITY);
  data(41, 7, NAN);
  data(42, 30, std::bit_cast<float>(0x7fffffffu));
  data(50, 11, kMost);
  data(51, 11, -kMost);
  weight(8, 9, INFINITY);
  weight(21, 5, 0);  // times infinity: not a number
  weight(22, 5, 1);  // of which no digits are left
  const std::vector<float> got = product.Run({});
  REQUIRE(product.wrong() == "");
  const std::vector<Tensor> wanted = product.Expected();
  int infinite = 0, no_number = 0;
  for (int64_t i = 0; i < kRows * kColumns; ++i) {
    CAPTURE(i / kColumns);
    CAPTURE(i % kColumns);
    const double want = wanted[0].At(i), y = got[static_cast<size_t>(i)];
    infinite += std::isinf(want), no_number += std::isnan(want);
    CHECK(std::isnan(y) == std::isnan(want));
    if (std::isinf(want)) CHECK(y == want);
    if (!std::isfinite(want)) continue;
    CHECK(std::fabs(y - want) <= 1e-6 * std::max(20.0, std::fabs(want)));
  }
  CHECK(infinite > 100);
  CHECK(no_number > 60);
}

TEST_CASE("operands are rounded to tf32 where that is asked for") {
  const ContractionCase c = WithEpilogue(Convolution(kConvolutions[0]));
  const auto found = ProductCandidates(
      c.contraction, GpuMachineOf(EmulatedTarget()), /*tf32=*/true);
  REQUIRE(!found.empty());
  DeviceStep product(Build(c, found[0]));
  const double error = product.Error(product.Run({}));
  CHECK(error > 1e-5);
  CHECK(error < 1e-3);
}

TEST_CASE("any order of threads gives the bytes, and each barrier is needed") {
  const Contraction c = Convolution(kConvolutions[0]);
  DeviceStep product(Build(WithEpilogue(c), CandidateFor(c, true)));
  // One for each 16 of the depth, and two around the sums.
  CheckThatEachIsNeeded(product, 16 * 9 / ProductTile::kWords + 2);
}

TEST_CASE("few rows, columns or terms take a thread each") {
  const GpuMachine machine = GpuMachineOf(EmulatedTarget());
  CHECK(ProductCandidates(Product(1, 4, 512, 512), machine).empty());
  CHECK(ProductCandidates(Product(1, 512, 128, 4), machine).empty());
  CHECK(ProductCandidates(Product(1, 512, 512, 1), machine).empty());
  CHECK(ProductCandidates(Product(1, 512, 4, 512), machine).empty());
  // But the gradient of a picture with three channels is a product, and so is
  // one of more rows times depth than 32 bits count.
  const ConvolutionShape picture = {.batch = 512,
                                    .in = 3,
                                    .out = 64,
                                    .input = {224, 224},
                                    .kernel = {7, 7},
                                    .stride = {2, 2},
                                    .pad = {3, 3}};
  CHECK(!ProductCandidates(BackwardData(picture), machine).empty());
  CHECK(!ProductCandidates(Convolution(picture), machine).empty());
  const ConvolutionShape depthwise = {.batch = 2,
                                      .groups = 32,
                                      .in = 32,
                                      .out = 32,
                                      .input = {14, 14},
                                      .kernel = {3, 3}};
  CHECK(ProductCandidates(Convolution(depthwise), machine).empty());
}

TEST_CASE("a gradient of few weights is dealt in parts") {
  const ConvolutionShape shape = {.batch = 32,
                                  .in = 16,
                                  .out = 16,
                                  .input = {28, 28},
                                  .kernel = {3, 3},
                                  .pad = {1, 1}};
  const auto found =
      ProductCandidates(BackwardWeight(shape), GpuMachineOf(EmulatedTarget()));
  REQUIRE(found.size() > 1);
  CHECK(found[0].parts == 32);
  const auto whole = std::ranges::find_if(found, [](const auto& candidate) {
    return candidate.parts == 0 && !candidate.library;
  });
  REQUIRE(whole != found.end());
  CHECK(whole->cost > 2 * found[0].cost);
}

TEST_CASE("the parts of a product have the kernel of the whole") {
  const GpuMachine machine = GpuMachineOf(EmulatedTarget());
  for (const int64_t side : {3, 7, 14, 28}) {
    for (const int64_t out : {8, 16, 64}) {
      for (const int64_t in : {16, 128, 512}) {
        const Contraction c = Convolution({.batch = 1,
                                           .in = in,
                                           .out = out,
                                           .input = {side, side},
                                           .kernel = {3, 3}});
        CAPTURE(side);
        CAPTURE(in);
        CAPTURE(out);
        for (const KernelCandidate& whole : ProductCandidates(c, machine)) {
          if (whole.parts <= 1) continue;
          const auto of_parts =
              ProductCandidates(InParts(c, whole.parts), machine);
          CHECK(std::ranges::any_of(of_parts, [&](const auto& candidate) {
            return candidate.choice == whole.choice;
          }));
        }
      }
    }
  }
}

TEST_CASE("where channels fill vectors they are asked to lie side by side") {
  const GpuMachine machine = GpuMachineOf(EmulatedTarget());
  ConvolutionShape shape = {.batch = 8,
                            .in = 64,
                            .out = 64,
                            .input = {14, 14},
                            .kernel = {3, 3},
                            .pad = {1, 1}};
  const auto typed = [](const Contraction& c) {
    return Typed(c, DType::kBF16);
  };
  for (const Contraction& c : {Convolution(shape), BackwardData(shape)}) {
    const auto found = ProductCandidates(typed(c), machine);
    CHECK(ProductOf(found[0].choice).channels_last);
    CHECK(found[0].data_block == kWholeAxis);
    CHECK(found[0].output_block == kWholeAxis);
    CHECK(found[0].weight_block == kWholeAxis);
    CHECK(found[0].packing_cost > 0);
    const auto plain = std::ranges::find_if(found, [](const auto& each) {
      return !ProductOf(each.choice).channels_last;
    });
    REQUIRE(plain != found.end());
    CHECK(plain->cost > found[0].cost + found[0].packing_cost);
    // Three products of tf32 take longer than any copies.
    CHECK(!ProductOf(ProductCandidates(c, machine)[0].choice).channels_last);
    const auto rounded = ProductCandidates(c, machine, /*tf32=*/true);
    CHECK(ProductOf(rounded[0].choice).channels_last);
  }
  // The gradient of a weight is as the weight, which its owner sees.
  const auto found = ProductCandidates(typed(BackwardWeight(shape)), machine);
  CHECK(found[0].data_block == kWholeAxis);
  CHECK(found[0].weight_block == kWholeAxis);
  CHECK(found[0].output_block == 1);
  CHECK(found[0].packing_cost == 0);
  // Three colours fill no vector, what becomes of them does.
  shape.in = 3;
  for (const auto& each :
       ProductCandidates(typed(Convolution(shape)), machine)) {
    CHECK(each.data_block == 1);
    CHECK((each.output_block == kWholeAxis) ==
          ProductOf(each.choice).channels_last);
  }
}

TEST_CASE("every tile that a block may compute gives the same bytes") {
  for (const DType dtype : {DType::kF32, DType::kBF16}) {
    Contraction c = Product(1, 150, 70, 50);
    c.types.data = c.types.weight = dtype;
    const auto found = ProductCandidates(c, GpuMachineOf(EmulatedTarget()));
    std::vector<float> expected;
    std::set<std::string> names;
    for (const KernelCandidate& candidate : found) {
      CAPTURE(DescribeProduct(candidate.choice));
      names.insert(DescribeProduct(candidate.choice));
      if (candidate.parts > 0) continue;
      DeviceStep product(Build(WithEpilogue(c), candidate));
      const std::vector<float> y = product.Run({.seed = 1});
      REQUIRE(product.wrong() == "");
      CHECK(product.Error(y) < 1e-6);
      if (expected.empty()) expected = y;
      CHECK(std::memcmp(y.data(), expected.data(), 4 * y.size()) == 0);
    }
    const std::string algorithm = dtype == DType::kF32 ? "mma" : "mma_bf16";
    for (const char* tile : {" 128x64", " 128x64 by 64 rows", " 64x64",
                             " 64x64 by 64 rows", " 128x32", " 32x32"}) {
      CHECK(names.contains(algorithm + tile));
    }
    CHECK(names.contains("mma 128x64 or library") == (dtype == DType::kF32));
  }
}

TEST_CASE("tiles that a product leaves mostly empty are not offered") {
  const auto found = ProductCandidates(Product(1, 32, 512, 20),
                                       GpuMachineOf(EmulatedTarget()));
  std::set<std::string> names;
  for (const KernelCandidate& each : found)
    names.insert(DescribeProduct(each.choice));
  CHECK(names == std::set<std::string>{"mma 32x32", "mma 32x32 or library"});
}

}  // namespace mxc::test
