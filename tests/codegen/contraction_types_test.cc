// SPDX-License-Identifier: Apache-2.0
// Contractions of other types than f32, of random geometry, against the
// interpreter: forward, gradients and products.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "tests/codegen/contraction_case.h"
#include "tests/codegen/native_kernel.h"

namespace mxc::test {
namespace {

struct Types {
  DType operands, output;
  double tolerance;  // of the largest output: rounding, once
};

constexpr Types kTypes[] = {
    {DType::kF64, DType::kF64, 1e-13},    {DType::kF16, DType::kF16, 0x1p-11},
    {DType::kBF16, DType::kBF16, 0x1p-8}, {DType::kBF16, DType::kF32, 1e-5},
    {DType::kI8, DType::kI8, 0},          {DType::kI8, DType::kI32, 0},
    {DType::kU8, DType::kI32, 0},         {DType::kI32, DType::kI32, 0},
    {DType::kI64, DType::kI64, 0},
};

using Pick = std::function<int64_t(int64_t low, int64_t high)>;

ConvolutionShape RandomConvolution(const Pick& pick) {
  ConvolutionShape shape;
  const int64_t rank = pick(1, 2);
  shape.batch = pick(1, 3);
  shape.in = pick(1, 40);
  shape.out = pick(1, 40);
  if (pick(0, 3) == 0) shape.groups = shape.in = shape.out = pick(2, 40);
  for (int64_t i = 0; i < rank; ++i) {
    shape.kernel.push_back(pick(1, 3));
    shape.stride.push_back(pick(1, 2));
    shape.pad.push_back(pick(0, 1));
    shape.input.push_back(shape.kernel[i] + pick(0, 11));
  }
  return shape;
}

std::string CheckTyped(const Contraction& f32, const Types& types,
                       const Target& target, uint64_t seed) {
  Contraction c = Typed(f32, types.operands, types.output);
  const auto candidates = MakeKernelCatalog(target, {})->Candidates(c);
  const bool sums = !candidates.empty() && candidates[0].parts > 0;
  if (sums) c.types.output = c.types.sum;
  Expr value = Acc(c.types.sum);
  if (!sums) value = Relu(value + Bias(c) + Residual(c));
  return Check({c, value}, target, seed, types.tolerance);
}

TEST_CASE("contractions of all types compute what the interpreter does") {
  std::mt19937_64 random(11);
  const Pick pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  const std::vector<Target> targets = RunnableTargets();
  for (int round = 0; round < 6; ++round) {
    const Target& target = targets[static_cast<size_t>(round) % targets.size()];
    CAPTURE(target.name);
    const ConvolutionShape shape = RandomConvolution(pick);
    const Contraction product =
        Product(pick(1, 2), pick(1, 20), pick(1, 50), pick(1, 50));
    for (const Types& types : kTypes) {
      CAPTURE(round);
      CAPTURE(ShortName(types.operands));
      CAPTURE(ShortName(types.output));
      const auto check = [&](const Contraction& c) {
        return CheckTyped(c, types, target, 100 + round);
      };
      CHECK(check(Convolution(shape)) == "");
      CHECK(check(BackwardData(shape)) == "");
      CHECK(check(BackwardWeight(shape)) == "");
      CHECK(check(product) == "");
    }
  }
}

// Weights are what the algorithms have transformed, in the type of the sums.
TEST_CASE("Winograd's and Strassen's algorithms read and write narrow floats") {
  const ConvolutionShape shapes[] = {{.batch = 2,
                                      .in = 24,
                                      .out = 40,
                                      .input = {13, 10},
                                      .kernel = {3, 3},
                                      .pad = {1, 0}},
                                     {.batch = 1,
                                      .in = 64,
                                      .out = 32,
                                      .input = {5, 7},
                                      .kernel = {1, 1},
                                      .stride = {2, 1}}};
  const std::string algorithms[] = {"winograd4", "strassen"};
  const Types kinds[] = {{DType::kBF16, DType::kBF16, 0x1p-8},
                         {DType::kBF16, DType::kF32, 3e-5},
                         {DType::kF32, DType::kBF16, 0x1p-8},
                         {DType::kF16, DType::kF16, 0x1p-10}};
  const CatalogOptions options = {.options = {{"strassen", "on"}}};
  for (const Target& target : RunnableTargets()) {
    CAPTURE(target.name);
    for (const Types& types : kinds) {
      CAPTURE(ShortName(types.operands));
      CAPTURE(ShortName(types.output));
      for (const int i : {0, 1}) {
        Contraction c = Convolution(shapes[i]);
        c.types = {types.operands, DType::kF32, DType::kF32, types.output};
        const auto offered = MakeKernelCatalog(target, options)->Candidates(c);
        CHECK(std::ranges::any_of(offered, [&](const auto& candidate) {
          return candidate.choice.algorithm == algorithms[i];
        }));
        const Expr value = Relu(Acc() + Bias(c) + Residual(c));
        CHECK(Check({c, value, 0, 1, options}, target, 31, types.tolerance) ==
              "");
        if (i == 1) continue;
        CHECK(Check({c, value, 0, 0, options, false, {2, 2}}, target, 32,
                    types.tolerance) == "");
      }
    }
  }
}

TEST_CASE("products of integers are summed exactly") {
  CHECK(SumTypeOf(DType::kI8, DType::kI8, DType::kI8) == DType::kI32);
  CHECK(SumTypeOf(DType::kI32, DType::kI32, DType::kI32) == DType::kI32);
  CHECK(SumTypeOf(DType::kI32, DType::kI32, DType::kI64) == DType::kI64);
  CHECK(SumTypeOf(DType::kBF16, DType::kBF16, DType::kBF16) == DType::kF32);
  CHECK(SumTypeOf(DType::kF64, DType::kF64, DType::kF64) == DType::kF64);
}

// Of two axes, by kernels of up to 3 x 3.
ConvolutionShape RandomWindows(const Pick& pick, int64_t in, int64_t out,
                               int64_t most_beside) {
  ConvolutionShape shape = {.batch = pick(1, 3), .in = in, .out = out};
  for (int axis = 0; axis < 2; ++axis) {
    shape.kernel.push_back(pick(1, 3));
    shape.stride.push_back(pick(1, 2));
    shape.pad.push_back(pick(0, 1));
    shape.input.push_back(shape.kernel[axis] + pick(0, most_beside));
  }
  return shape;
}

// The contraction of bf16, for which the algorithm is offered.
void CheckBrain(const Contraction& c, std::string_view algorithm,
                const Target& target, uint64_t seed) {
  for (const DType output : {DType::kBF16, DType::kF32}) {
    CAPTURE(seed);
    CAPTURE(ShortName(output));
    const Contraction typed = Typed(c, DType::kBF16, output);
    const auto candidates = MakeKernelCatalog(target, {})->Candidates(typed);
    CHECK(std::ranges::count_if(candidates, [&](const auto& candidate) {
            return candidate.choice.algorithm == algorithm;
          }) == 1);
    CHECK(CheckTyped(c, {DType::kBF16, output, 0x1p-8}, target, seed) == "");
  }
}

TEST_CASE("instructions for pairs of bf16 compute what the interpreter does") {
  for (const char* level : {"x86-64-v4-bf16", "aarch64-bf16"}) {
    const Target target = *ResolveTarget(level);
    if (!CanRun(target)) {
      MESSAGE("skipped: this processor has less than " << std::string(level));
      continue;
    }
    std::mt19937_64 random(5);
    const Pick pick = [&](int64_t low, int64_t high) {
      return std::uniform_int_distribution<int64_t>(low, high)(random);
    };
    for (int round = 0; round < 6; ++round) {
      const ConvolutionShape shape =
          RandomWindows(pick, 16 * pick(1, 4), pick(1, 70), 20);
      CheckBrain(Convolution(shape), "pairs", target, 300 + round);
    }
    // Columns of a kernel of few channels, the last of which may have no other.
    for (int64_t columns = 2; columns < 8; ++columns) {
      const int64_t few = target.machine.lanes(DType::kF32) / 2 - 1;
      ConvolutionShape shape =
          RandomWindows(pick, pick(1, few), pick(1, 70), 20);
      shape.kernel[1] = columns;
      shape.input[1] += columns;
      CheckBrain(Convolution(shape), "column_pairs", target, 330 + columns);
    }
    // Rows of a channel's own kernel, whose last may have no other.
    for (int64_t rows = 1; rows < 6; ++rows) {
      ConvolutionShape shape = RandomWindows(pick, 1, 1, 20);
      shape.groups = shape.in = shape.out = pick(2, 40);
      shape.kernel[0] = rows;
      shape.dilate = {pick(1, 2), 1};
      shape.input[0] += 2 * rows;
      CheckBrain(Convolution(shape), "depthwise", target, 320 + rows);
    }
  }
}

TEST_CASE("tiles of a matrix unit compute what the interpreter does") {
  const Target target = *ResolveTarget("x86-64-v4-amx");
  if (!CanRun(target)) {
    MESSAGE("skipped: this processor has no AMX");
    return;
  }
  std::mt19937_64 random(7);
  const Pick pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  for (int round = 0; round < 8; ++round) {
    const ConvolutionShape shape =
        RandomWindows(pick, 32 * pick(1, 3), 16 * pick(1, 5), 45);
    CheckBrain(Convolution(shape), "tiles", target, 200 + round);
    CheckBrain(Product(pick(1, 2), pick(8, 60), 32 * pick(1, 3), pick(1, 70)),
               "tiles", target, 200 + round);
    // A gradient of weights: rows of data are columns of what is stored.
    Contraction gradient = Product(1, pick(8, 60), 32, pick(1, 70));
    std::ranges::reverse(gradient.data_axes);
    const Types types = {DType::kBF16, DType::kF32, 1e-5};
    CHECK(CheckTyped(gradient, types, target, 200 + round) == "");
  }
}

// Kernels of 8-bit integers, or of those widened to 16 bits, by the units that
// the level has; whatever they are, the sums are the interpreter's.
void CheckIntegers(const Contraction& f32, DType data,
                   std::string_view algorithm, const Target& target,
                   uint64_t seed) {
  for (const DType output : {DType::kI32, DType::kU8}) {
    CAPTURE(target.name);
    CAPTURE(algorithm);
    CAPTURE(ShortName(data));
    CAPTURE(ShortName(output));
    CAPTURE(seed);
    Contraction c = f32;
    c.types = {data, DType::kI8, DType::kI32, output};
    const auto candidates = MakeKernelCatalog(target, {})->Candidates(c);
    CHECK(std::ranges::any_of(candidates, [&](const auto& candidate) {
      return candidate.choice.algorithm == algorithm;
    }));
    const Expr value = Relu(Acc(c.types.sum) + Bias(c) + Residual(c));
    CHECK(Check({c, value}, target, seed, 0) == "");
  }
}

// Units for integers of a level, by the algorithm that uses them; the channels and
// filters that it takes at once.
struct IntegerUnit {
  const char* level;
  std::vector<DType> data;
  std::string_view algorithm;
  int64_t channels = 1, filters = 1;
};

// Calls check(unit, target, pick) for those that this processor has.
void ForIntegerUnits(const std::vector<IntegerUnit>& units, uint64_t seed,
                     const std::function<void(const IntegerUnit&, const Target&,
                                              const Pick&)>& check) {
  std::mt19937_64 random(seed);
  const Pick pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  for (const IntegerUnit& unit : units) {
    const Target target = *ResolveTarget(unit.level);
    if (CanRun(target)) {
      check(unit, target, pick);
    } else {
      MESSAGE("skipped: this processor has less than "
              << std::string(unit.level));
    }
  }
}

TEST_CASE("units for 8-bit integers have exact sums") {
  const std::vector<IntegerUnit> units = {
      {"x86-64-v2", {DType::kI16}, "pairs", 2, 1},
      {"x86-64-v3", {DType::kI16}, "pairs", 2, 1},
      {"x86-64-v4", {DType::kI16}, "pairs", 2, 1},
      {"x86-64-v3-vnni", {DType::kU8, DType::kI8}, "quads", 4, 1},
      {"x86-64-v4-vnni", {DType::kU8, DType::kI8}, "quads", 4, 1},
      {"x86-64-v4-amx", {DType::kU8, DType::kI8}, "tiles", 64, 16},
      {"aarch64-i8mm", {DType::kU8, DType::kI8}, "quads", 4, 1},
  };
  ForIntegerUnits(
      units, 13,
      [](const IntegerUnit& unit, const Target& target, const Pick& pick) {
        for (int round = 0; round < 4; ++round) {
          const int64_t most = 80 / unit.channels;
          const ConvolutionShape shape = RandomWindows(
              pick, unit.channels * pick(1, std::max<int64_t>(2, most)),
              unit.filters * pick(1, 70 / unit.filters), 20);
          const Contraction product = Product(
              pick(1, 2), pick(8, 40),
              unit.channels * pick(1, std::max<int64_t>(2, most)), pick(1, 70));
          for (const DType data : unit.data) {
            CheckIntegers(Convolution(shape), data, unit.algorithm, target,
                          400 + round);
            CheckIntegers(product, data, unit.algorithm, target, 400 + round);
            if (unit.filters > 1) continue;
            // Channels that leave a part of the last ones' product empty.
            const int64_t channels = round % 2 == 0 ? pick(1, 7) : pick(1, 50);
            CheckIntegers(
                Convolution(RandomWindows(pick, channels, pick(1, 70), 9)),
                data, unit.algorithm, target, 450 + round);
          }
        }
      });
}

// Their last positions of a row lie beside the data, or beside the kernel.
TEST_CASE("units take neighbouring positions of depthwise kernels") {
  const std::vector<IntegerUnit> units = {
      {"x86-64-v2", {DType::kI16}, "depthwise_pairs"},
      {"x86-64-v3", {DType::kI16}, "depthwise_pairs"},
      {"x86-64-v3-vnni", {DType::kU8, DType::kI8}, "depthwise_quads"},
      {"x86-64-v4-vnni", {DType::kU8, DType::kI8}, "depthwise_quads"},
      {"aarch64-i8mm", {DType::kU8, DType::kI8}, "depthwise_quads"},
  };
  ForIntegerUnits(
      units, 17,
      [](const IntegerUnit& unit, const Target& target, const Pick& pick) {
        for (int round = 0; round < 6; ++round) {
          ConvolutionShape shape = {.batch = pick(1, 2)};
          shape.groups = shape.in = shape.out = pick(2, 70);
          for (int64_t axes = pick(1, 2); axes > 0; --axes) {
            shape.kernel.push_back(axes == 1 ? pick(2, 9) : pick(1, 5));
            shape.stride.push_back(pick(1, 3));
            shape.pad.push_back(pick(0, 2));
            shape.input.push_back(shape.kernel.back() + pick(0, 20));
          }
          for (const DType data : unit.data) {
            CheckIntegers(Convolution(shape), data, unit.algorithm, target,
                          500 + round);
          }
        }
      });
}

}  // namespace
}  // namespace mxc::test
