// SPDX-License-Identifier: Apache-2.0
// 1x1 convolutions by Strassen's algorithm, which the catalog offers beside the
// others.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "codegen/codegen.h"
#include "codegen/cpu/contraction/contraction.h"
#include "tests/codegen/contraction_case.h"
#include "tests/codegen/native_kernel.h"

namespace mxc::test {
namespace {

const CatalogOptions kOffered = {.options = {{"strassen", "on"}}};

const KernelCandidate* FindStrassen(
    const std::vector<KernelCandidate>& candidates) {
  const auto found = std::ranges::find_if(candidates, [](const auto& c) {
    return c.choice.algorithm == "strassen";
  });
  return found == candidates.end() ? nullptr : &*found;
}

TEST_CASE("Strassen's algorithm is offered for what it halves") {
  const ConvolutionShape fits = {
      .in = 128, .out = 64, .input = {28, 28}, .kernel = {1, 1}};
  ConvolutionShape wide = fits, grouped = fits, padded = fits, odd = fits;
  wide.kernel = {1, 3};
  wide.pad = {0, 1};
  grouped.groups = 2;
  padded.pad = {1, 1};
  odd.in = 120;
  for (const Target& target : RunnableTargets()) {
    const auto catalog = MakeKernelCatalog(target, kOffered);
    CHECK(FindStrassen(catalog->Candidates(Convolution(fits))) != nullptr);
    CHECK(FindStrassen(catalog->Candidates(BackwardData(fits))) == nullptr);
    for (const ConvolutionShape& shape : {wide, grouped, padded}) {
      CHECK(FindStrassen(catalog->Candidates(Convolution(shape))) == nullptr);
    }
    const bool halves = odd.in % (2 * target.machine.lanes(DType::kF32)) == 0;
    CHECK((FindStrassen(catalog->Candidates(Convolution(odd))) != nullptr) ==
          halves);
    const auto without = MakeKernelCatalog(target);
    CHECK(FindStrassen(without->Candidates(Convolution(fits))) == nullptr);
  }
}

// In Node its products and sums take longer than all products do.
TEST_CASE("Strassen's algorithm is no page's") {
  const Target page = *ResolveTarget("wasm32");
  const Target server = *ResolveTarget("x86-64-v3");
  for (const int64_t rows : {7, 14, 28}) {
    const Contraction c = Convolution(
        {.in = 256, .out = 512, .input = {rows, rows}, .kernel = {1, 1}});
    const auto cheapest = [&](const Target& target) {
      const auto all = MakeKernelCatalog(target, kOffered)->Candidates(c);
      return std::ranges::min_element(all, {}, &KernelCandidate::cost)
          ->choice.algorithm;
    };
    CAPTURE(rows);
    CHECK(cheapest(page) == "direct");
    CHECK(cheapest(server) == "strassen");
  }
}

TEST_CASE("Strassen's algorithm on random 1x1 convolutions") {
  std::mt19937_64 random(17);
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  const std::vector<Target> targets = RunnableTargets();
  for (int round = 0; round < 24; ++round) {
    ConvolutionShape shape;
    shape.batch = pick(1, 3);
    shape.in = 32 * pick(1, 4);
    shape.out = 32 * pick(1, 5);
    shape.kernel = {1, 1};
    shape.input = {pick(1, 17), pick(1, 17)};
    shape.stride = {pick(1, 2), pick(1, 2)};
    const Contraction c = Convolution(shape);
    const Target& target = targets[round % targets.size()];
    CAPTURE(target.name);
    CAPTURE(round);
    REQUIRE(FindStrassen(MakeKernelCatalog(target, kOffered)->Candidates(c)) !=
            nullptr);
    const Expr sum = Acc() + Bias(c);
    CHECK(Check({c, Relu(round % 3 == 0 ? sum + Residual(c) : sum), pick(0, 1),
                 pick(0, 2), kOffered},
                target, random()) == "");
  }
}

TEST_CASE("Strassen's tasks split blocks of pairs and output channels") {
  for (const Target& target : RunnableTargets()) {
    CAPTURE(target.name);
    for (const int64_t side : {7, 45}) {
      const Contraction c = Convolution({.batch = 2,
                                         .in = 128,
                                         .out = 256,
                                         .input = {side, side},
                                         .kernel = {1, 1}});
      const ContractionCase test = {c, Relu(Acc() + Bias(c)), 0, 1, kOffered};
      const auto candidates =
          MakeKernelCatalog(target, kOffered)->Candidates(c);
      const Program program = Build(test, *FindStrassen(candidates));
      CHECK(PlanContraction(program, program.steps[0], target).tasks > 1);
      CHECK(Check(test, target, 5) == "");
    }
  }
}

}  // namespace
}  // namespace mxc::test
