// SPDX-License-Identifier: Apache-2.0
// 3x3 to 5x5 convolutions by Winograd's algorithm, which the catalog offers
// beside the others.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "codegen/codegen.h"
#include "codegen/cpu/contraction/contraction.h"
#include "tests/codegen/contraction_case.h"
#include "tests/codegen/native_kernel.h"

namespace mxc::test {
namespace {

const KernelCandidate* FindWinograd(
    const std::vector<KernelCandidate>& candidates,
    std::string_view algorithm) {
  const auto found = std::ranges::find_if(candidates, [&](const auto& c) {
    return c.choice.algorithm == algorithm;
  });
  return found == candidates.end() ? nullptr : &*found;
}

TEST_CASE("Winograd's algorithm is offered for what it computes") {
  const ConvolutionShape fits = {
      .in = 64, .out = 64, .input = {56, 56}, .kernel = {3, 3}, .pad = {1, 1}};
  ConvolutionShape strided = fits, dilated = fits, grouped = fits;
  strided.stride = {2, 1};
  dilated.dilate = {1, 2};
  grouped.groups = 2;
  for (const Target& target : RunnableTargets()) {
    const auto catalog = MakeKernelCatalog(target);
    const auto offered = catalog->Candidates(Convolution(fits));
    CHECK(FindWinograd(offered, "winograd2") != nullptr);
    CHECK(FindWinograd(offered, "winograd4") != nullptr);
    for (const ConvolutionShape& shape : {strided, dilated, grouped}) {
      const auto others = catalog->Candidates(Convolution(shape));
      CHECK(FindWinograd(others, "winograd2") == nullptr);
      CHECK(FindWinograd(others, "winograd4") == nullptr);
    }
  }
}

TEST_CASE("tiles are as large as was asked for") {
  const ConvolutionShape shape = {.batch = 2,
                                  .in = 40,
                                  .out = 50,
                                  .input = {13, 20},
                                  .kernel = {3, 3},
                                  .pad = {1, 0}};
  for (const Target& target : RunnableTargets()) {
    CAPTURE(target.name);
    for (const int tile : {0, 2, 6}) {
      for (const Contraction& c :
           {Convolution(shape), BackwardData(shape), BackwardWeight(shape)}) {
        const CatalogOptions options = {
            .options = {{"winograd", std::to_string(tile)}}};
        const auto catalog = MakeKernelCatalog(target, options);
        const auto offered = std::ranges::count_if(
            catalog->Candidates(c), [](const auto& candidate) {
              return candidate.choice.algorithm.starts_with("winograd");
            });
        CHECK(offered == tile / 2);
        CHECK(Check({c, Acc(), 0, 0, options}, target, 21, 3e-5) == "");
      }
    }
  }
}

TEST_CASE("random convolutions") {
  std::mt19937_64 random(11);
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  const std::vector<Target> targets = RunnableTargets();
  for (int round = 0; round < 40; ++round) {
    ConvolutionShape shape;
    shape.batch = pick(1, 3);
    shape.in = pick(8, 70);
    shape.out = pick(32, 90);
    const int64_t side = round % 4 < 2 ? 3 : 2 + round % 4;
    shape.kernel = {side, side};
    if (round >= 24) {
      const Extents lines = {3, 5, 7, 4};
      shape.kernel = {1, lines[round % 4]};
      if (round % 8 < 4) std::swap(shape.kernel[0], shape.kernel[1]);
    }
    shape.input = {pick(5, 30), pick(5, 30)};
    shape.pad = {pick(0, 2), pick(0, 2)};
    const Contraction c = Convolution(shape);
    const Target& target = targets[round % targets.size()];
    CAPTURE(target.name);
    CAPTURE(round);
    CAPTURE(ToString(c.input));
    const Expr sum = Acc() + Bias(c);
    CHECK(Check({c,
                 Relu(round % 3 == 0 ? sum + Residual(c) : sum),
                 pick(0, 1),
                 pick(0, 2),
                 {},
                 round / 4 % 2 == 1},
                target, random()) == "");
  }
}

// Tiles that hang over the end, windows that nothing fills, channels that do
// not fill blocks, a residual that is read where nothing is stored.
TEST_CASE("maxima of windows are stored in the outputs' place") {
  const std::pair<ConvolutionShape, Extents> cases[] = {
      {{.in = 40,
        .out = 40,
        .input = {24, 36},
        .kernel = {3, 3},
        .pad = {1, 1}},
       {2, 2}},
      {{.batch = 2,
        .in = 17,
        .out = 36,
        .input = {23, 13},
        .kernel = {3, 3},
        .pad = {1, 1}},
       {2, 2}},
      {{.in = 20, .out = 32, .input = {14, 15}, .kernel = {3, 3}}, {2, 1}},
      {{.in = 20,
        .out = 33,
        .input = {19, 22},
        .kernel = {3, 3},
        .pad = {1, 1}},
       {3, 2}},
      {{.batch = 2, .in = 16, .out = 32, .input = {9, 20}, .kernel = {1, 5}},
       {1, 2}},
  };
  const CatalogOptions options = {.options = {{"winograd", "6"}}};
  for (const Target& target : RunnableTargets()) {
    CAPTURE(target.name);
    for (const auto& [shape, maxima] : cases) {
      const Contraction c = Convolution(shape);
      CAPTURE(ToString(c.output));
      const auto candidates = MakeKernelCatalog(target, options)->Candidates(c);
      CHECK(std::ranges::any_of(candidates, [&](const auto& candidate) {
        return !candidate.tile.empty() && candidate.tile[0] % maxima[0] == 0 &&
               candidate.tile[1] % maxima[1] == 0;
      }));
      const Expr epilogue = Relu(Acc() + Bias(c) + Residual(c));
      CHECK(Check({c, epilogue, 0, 1, options, false, maxima}, target, 5,
                  3e-5) == "");
      CHECK(Check({c, epilogue, 0, 0, options, true, maxima}, target, 6,
                  3e-5) == "");
    }
  }
}

TEST_CASE("Winograd's tasks split blocks of tiles and output channels") {
  const ConvolutionShape many_tiles = {
      .in = 40, .out = 40, .input = {61, 75}, .kernel = {3, 3}, .pad = {1, 1}};
  const ConvolutionShape many_channels = {.in = 128,
                                          .out = 200,
                                          .input = {14, 13},
                                          .kernel = {3, 3},
                                          .pad = {1, 1}};
  for (const Target& target : RunnableTargets()) {
    CAPTURE(target.name);
    const auto catalog = MakeKernelCatalog(target);
    for (const ConvolutionShape& shape : {many_tiles, many_channels}) {
      const Contraction c = Convolution(shape);
      const ContractionCase test = {c, Relu(Acc() + Bias(c)), 0, 1};
      const auto candidates = catalog->Candidates(c);
      const KernelCandidate* winograd = FindWinograd(candidates, "winograd4");
      REQUIRE(winograd != nullptr);
      const Program program = Build(test, *winograd);
      CHECK(PlanContraction(program, program.steps[0], target).tasks > 1);
      CHECK(Check(test, target, 5) == "");
    }
  }
}

TEST_CASE("the last tiles are as small as what is left of the output") {
  struct Shape {
    int64_t batch;
    Extents input;
  };
  for (const Target& target : RunnableTargets()) {
    CAPTURE(target.name);
    for (const Shape& s :
         {Shape{1, {7, 7}}, Shape{3, {14, 13}}, Shape{2, {12, 17}},
          Shape{1, {23, 12}}, Shape{2, {3, 2}}}) {
      CAPTURE(ToString(s.input));
      const Contraction c = Convolution({.batch = s.batch,
                                         .in = 40,
                                         .out = 72,
                                         .input = s.input,
                                         .kernel = {3, 3},
                                         .pad = {1, 1}});
      const ContractionCase test = {
          c, Relu(Acc() + Bias(c)), 0, 1, {.options = {{"winograd", "6"}}}};
      CHECK(Check(test, target, 8, 3e-5) == "");
    }
  }
}

TEST_CASE("a task fetches the next block's data, the last one none") {
  const Contraction c = Convolution({.batch = 2,
                                     .in = 24,
                                     .out = 24,
                                     .input = {90, 70},
                                     .kernel = {3, 3},
                                     .pad = {1, 1}});
  for (const Target& target : RunnableTargets()) {
    CAPTURE(target.name);
    CHECK(Check({c,
                 Relu(Acc() + Bias(c) + Residual(c)),
                 0,
                 1,
                 {.options = {{"winograd", "6"}}}},
                target, 9, 3e-5) == "");
  }
}

}  // namespace
}  // namespace mxc::test
