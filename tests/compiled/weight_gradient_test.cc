// SPDX-License-Identifier: Apache-2.0
// The gradient of a wide layer's weight, summed over the rows of a batch, and an
// update of two states by it.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "codegen/codegen.h"
#include "ir/program/steps/contraction.h"
#include "passes/pass.h"
#include "runtime/mxc.hpp"
#include "tests/support/levels.h"

namespace mxc::wide_gradient {
namespace {

constexpr size_t kRows = 40, kWords = 4800, kSize = 200;

// m' = m / 2 + gᵀ · x, w' = w + s gᵀ · x
constexpr const char* kTrain = R"(
graph @net stateful {
  %0 "g" = input f32[40, 4800]
  %1 "x" = input f32[40, 200]
  %2 "w" = parameter f32[4800, 200]
  %3 "m" = state f32[4800, 200]
  %4 "s" = input f32[1, 1]
  %5 "dw" = dot(%0, %1) {transpose_a = "True"} : f32[4800, 200]
  %6 "half" = _mul_scalar(%3) {scalar = "0.5"} : f32[4800, 200]
  %7 "m1" = elemwise_add(%6, %5) : f32[4800, 200]
  %8 "scaled" = broadcast_mul(%5, %4) : f32[4800, 200]
  %9 "w1" = elemwise_add(%2, %8) : f32[4800, 200]
  return %4 "s_output"
  update %2 = %9
  update %3 = %7
}
)";

Program Plan(const Target& target) {
  auto file = std::make_shared<SourceFile>();
  file->text = kTrain;
  auto graph = ParseGraph(file);
  REQUIRE_MESSAGE(graph.ok(), Render(graph.errors()));
  graph->FindVariable("w")->constant = Tensor::FromFloats(
      Shape({kWords, kSize}), std::vector<float>(kWords * kSize, 1.0f));
  const auto catalog = MakeKernelCatalog(target);
  auto program =
      RunPipeline(std::move(*graph), {&target, catalog.get()}, PassOptions{});
  REQUIRE_MESSAGE(program.ok(), Render(program.errors()));
  program->entry = ProgramEntry::Named("train");
  return std::move(*program);
}

std::vector<float> Random(size_t size, unsigned seed) {
  std::mt19937 engine(seed);
  std::vector<float> values(size);
  for (float& value : values) {
    value = static_cast<float>(engine() % 2001) / 1000 - 1;
  }
  return values;
}

// Of what two runs leave, the largest difference from what is right.
double Error(const api::Executor& train, const std::vector<float>& g,
             const std::vector<float>& x) {
  std::vector<float> w(kWords * kSize), m(kWords * kSize);
  train.ReadState("w", std::span(w));
  train.ReadState("m", std::span(m));
  double error = 0;
  for (size_t word = 0; word < kWords; ++word) {
    for (size_t i = 0; i < kSize; ++i) {
      double sum = 0;
      for (size_t row = 0; row < kRows; ++row) {
        sum += double{g[row * kWords + word]} * double{x[row * kSize + i]};
      }
      const size_t at = word * kSize + i;
      error = std::max({error, std::abs(m[at] - 1.5 * sum),
                        std::abs(w[at] - (1 + 2 * 0.25 * sum))});
    }
  }
  return error;
}

}  // namespace

TEST_CASE("the gradient of a wide weight and its updates") {
  const std::vector<float> g = Random(kRows * kWords, 1);
  const std::vector<float> x = Random(kRows * kSize, 2);
  const std::vector<float> scale = {0.25f};
  for (const Target& target : test::RunnableTargets()) {
    CAPTURE(target.name);
    const std::vector<Program> programs = {Plan(target)};
    const std::string path =
        fmt::format("{}/mxc-wide-gradient-{}.mxa",
                    std::filesystem::temp_directory_path().string(), getpid());
    REQUIRE(WriteArtifact(path, programs, target).ok());
    const api::Model model(path);
    std::filesystem::remove(path);
    mxc_bind_options options = MXC_BIND_OPTIONS;
    options.entry = "train";
    options.threads = 2;
    api::Executor train(model, options);
    train.SetInput("g", std::span(g));
    train.SetInput("x", std::span(x));
    train.SetInput("s", std::span(scale));
    train.Run();
    train.Run();
    CHECK(Error(train, g, x) < 1e-4);
  }
}

// Neither operand is packed, and the update gathers nothing.
TEST_CASE("a wide weight's gradient reads its rows as they are") {
  const Program program = Plan(*ResolveTarget("x86-64-v4"));
  int gradients = 0, updates = 0;
  for (const Step& step : program.steps) {
    if (const ContractionStep* body = step.contraction()) {
      ++gradients;
      CHECK(body->choice.algorithm == "gemm_rows");
      CHECK(program.buffers[step.inputs[1]].name == "g");
    }
    if (step.outputs.size() != 2) continue;
    ++updates;
    for (const int input : step.inputs) {
      CHECK(program.buffers[input].layout.row_major());
    }
  }
  CHECK(gradients == 1);
  CHECK(updates == 1);
}

}  // namespace mxc::wide_gradient
