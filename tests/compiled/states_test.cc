// SPDX-License-Identifier: Apache-2.0
// An artifact with states: two entries that share them, from run to run.
#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "codegen/codegen.h"
#include "ir/target/target.h"
#include "passes/pass.h"
#include "runtime/mxc.hpp"
#include "tests/support/levels.h"

namespace mxc {
namespace {

// m' = m / 2 + x, w' = w + m', y = w · m'
constexpr const char* kTrain = R"(
graph @net stateful {
  %0 "x" = input f32[2, 3]
  %1 "w" = parameter f32[2, 3]
  %2 "w/m" = state f32[2, 3]
  %3 "half" = _mul_scalar(%2) {scalar = "0.5"} : f32[2, 3]
  %4 "m1" = elemwise_add(%3, %0) : f32[2, 3]
  %5 "w1" = elemwise_add(%1, %4) : f32[2, 3]
  %6 "y" = elemwise_mul(%1, %4) : f32[2, 3]
  return %6 "y_output"
  update %1 = %5
  update %2 = %4
}
)";

constexpr const char* kScore = R"(
graph @net stateful {
  %0 "w" = parameter f32[2, 3]
  %1 "z" = _plus_scalar(%0) {scalar = "10"} : f32[2, 3]
  return %1 "z_output"
}
)";

// The first value of "w" is 1 … 6 where a variable of that shape is there.
Program PlanEntry(const char* entry, std::string text, const Target& target) {
  auto file = std::make_shared<SourceFile>();
  file->text = std::move(text);
  auto graph = ParseGraph(file);
  REQUIRE_MESSAGE(graph.ok(), Render(graph.errors()));
  const std::vector<float> first = {1, 2, 3, 4, 5, 6};
  Node* w = graph->FindVariable("w");
  if (w->types[0].shape == Shape({2, 3})) {
    w->constant = Tensor::FromFloats(Shape({2, 3}), first);
  }
  const auto catalog = MakeKernelCatalog(target);
  auto program =
      RunPipeline(std::move(*graph), {&target, catalog.get()}, PassOptions{});
  REQUIRE_MESSAGE(program.ok(), Render(program.errors()));
  program->entry = ProgramEntry::Named(entry);
  return std::move(*program);
}

std::string TemporaryPath() {
  return fmt::format("{}/mxc-states-{}.mxa",
                     std::filesystem::temp_directory_path().string(), getpid());
}

using FloatRow = std::vector<float>;

FloatRow StateOf(const api::Executor& executor, const char* name) {
  FloatRow values(6);
  executor.ReadState(name, std::span(values));
  return values;
}

FloatRow OutputOf(const api::Executor& executor) {
  const auto output = executor.Output<float>(0);
  return {output.begin(), output.end()};
}

api::Executor Bind(const api::Model& model, const char* entry,
                   const api::Executor* share) {
  mxc_bind_options options = MXC_BIND_OPTIONS;
  options.entry = entry;
  options.threads = 2;
  options.share = share != nullptr ? share->handle() : nullptr;
  return api::Executor(model, options);
}

}  // namespace

TEST_CASE("compiled entries share states that live from run to run") {
  const auto target = test::RunnableTarget("x86-64-v3");
  REQUIRE(target.ok());
  const std::vector<Program> programs = {PlanEntry("train", kTrain, *target),
                                         PlanEntry("score", kScore, *target)};
  const std::string path = TemporaryPath();
  REQUIRE(WriteArtifact(path, programs, *target).ok());
  const api::Model model(path);
  std::filesystem::remove(path);
  REQUIRE(model.states().size() == 2);

  api::Executor train = Bind(model, "train", nullptr);
  api::Executor score = Bind(model, "score", &train);
  FloatRow w = {1, 2, 3, 4, 5, 6}, m(6), y(6);
  FloatRow x = {1, 0, -1, 2, 0.5f, 3};
  train.SetInput("x", std::span(x));
  for (int run = 0; run < 4; ++run) {
    CHECK(StateOf(train, "w") == w);
    CHECK(StateOf(score, "w/m") == m);
    for (size_t i = 0; i < 6; ++i) {
      m[i] = m[i] / 2 + x[i];
      y[i] = w[i] * m[i];
      w[i] += m[i];
    }
    train.Run();
    CHECK(OutputOf(train) == y);
    score.Run();
    for (float& value : y) value = 0;
    for (size_t i = 0; i < 6; ++i) CHECK(OutputOf(score)[i] == w[i] + 10);
  }
}

TEST_CASE("entries that disagree about a state are no artifact") {
  const auto target = ResolveTarget("x86-64-v3");
  std::string other = kScore;
  for (size_t at; (at = other.find("[2, 3]")) != other.npos;) {
    other.replace(at, 6, "[3, 2]");
  }
  const std::vector<Program> programs = {PlanEntry("train", kTrain, *target),
                                         PlanEntry("score", other, *target)};
  const auto sizes = WriteArtifact(TemporaryPath(), programs, *target);
  REQUIRE(!sizes.ok());
  CHECK(sizes.errors().front().message ==
        "'w' is f32[2, 3] in one entry and f32[3, 2] in 'score'; entries share "
        "states");
}

}  // namespace mxc
