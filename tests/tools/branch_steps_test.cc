// SPDX-License-Identifier: Apache-2.0
// That the side of a compiled branch which is not chosen does not run.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "codegen/codegen.h"
#include "ir/program/steps/branch.h"
#include "passes/pass.h"
#include "tests/support/levels.h"
#include "tools/verify/step_runner.h"

namespace mxc {
namespace {

// One side hands 64 numbers from layer to layer; the other needs no room.
constexpr const char* kChoice = R"(
graph @net {
  %0 "p" = input f32[1]
  %1 "x" = input f32[1, 64]
  %2 "w" = input f32[64, 64]
  %3 "first" = FullyConnected(%1, %2) {num_hidden = "64", no_bias = "True"} : f32[1, 64]
  %4 "second" = FullyConnected(%3, %2) {num_hidden = "64", no_bias = "True"} : f32[1, 64]
  %5 "root" = sqrt(%1) : f32[1, 64]
  %6 "y" = _choose(%0, %4, %5) {num_args = "3"} : f32[1, 64]
  return %6 "y_output"
}
)";

Program Planned(const Target& target) {
  auto graph =
      ParseGraph(std::make_shared<SourceFile>(SourceFile{"test", kChoice}));
  REQUIRE_MESSAGE(graph.ok(), Render(graph.errors()));
  const auto catalog = MakeKernelCatalog(target);
  PassContext context;
  context.target = &target;
  context.catalog = catalog.get();
  auto program = RunPipeline(std::move(*graph), context, {});
  REQUIRE_MESSAGE(program.ok(), Render(program.errors()));
  return std::move(*program);
}

int NumberOf(const Program& program, const std::string& name) {
  const auto at = std::ranges::find(program.buffers, name, &Buffer::name);
  REQUIRE(at != program.buffers.end());
  return static_cast<int>(at - program.buffers.begin());
}

// How many bytes of the room that both sides have are as they were.
int64_t Untouched(const Program& program, const Target& target, float p) {
  const std::string path =
      fmt::format("{}/mxc-branch-{}.mxa",
                  std::filesystem::temp_directory_path().string(), getpid());
  REQUIRE(WriteArtifact(path, std::span(&program, 1), target).ok());
  auto runner = StepRunner::Open(path, 0, program);
  std::filesystem::remove(path);
  REQUIRE(runner.ok());
  runner->Write(NumberOf(program, "p"),
                Tensor::FromFloats({1}, std::vector<float>{p}));
  for (int s = 0; s < static_cast<int>(program.steps.size()); ++s) {
    REQUIRE(runner->RunStep(s).ok());
  }
  const auto step = std::ranges::find_if(program.steps, [](const Step& s) {
    return s.body.As<Branch>() != nullptr;
  });
  REQUIRE(step != program.steps.end());
  const Tensor room = runner->Read(step->outputs.back());
  return std::count(room.bytes(), room.bytes() + room.size_bytes(),
                    std::byte{0xff});  // what nobody has written
}

TEST_CASE("a compiled branch does not run the side that is not chosen") {
  const auto target = test::RunnableTarget("x86-64-v3");
  REQUIRE(target.ok());
  const Program program = Planned(*target);
  const int64_t all = Untouched(program, *target, 0);
  CHECK(all >= 64 * 4);
  CHECK(Untouched(program, *target, 1) <= all - 64 * 4);
}

}  // namespace
}  // namespace mxc
