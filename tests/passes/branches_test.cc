// SPDX-License-Identifier: Apache-2.0
// Branches in training: the gradient of a branch is a branch.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "ir/program/interpreter.h"
#include "ir/program/steps/branch.h"
#include "ir/target/target.h"
#include "passes/pass.h"

namespace mxc {
namespace {

// y = log(w) if p, else square(w); the loss is that of a regression.
constexpr const char* kChoice = R"(
graph @net training stateful {
  %0 "p" = input f32[1]
  %1 "label" = input f32[3]
  %2 "w" = parameter f32[3]
  %3 "log" = log(%2) : f32[3]
  %4 "square" = square(%2) : f32[3]
  %5 "y" = _choose(%0, %3, %4) {num_args = "3"} : f32[3]
  %6 "head" = LinearRegressionOutput(%5, %1) : f32[3]
  return %6 "head_output"
}
)";

using FloatList = std::vector<float>;

Program Planned() {
  auto graph =
      ParseGraph(std::make_shared<SourceFile>(SourceFile{"test", kChoice}));
  REQUIRE_MESSAGE(graph.ok(), Render(graph.errors()));
  TrainingOptions training;
  training.optimizer = "";
  const Target target = *ResolveTarget("x86-64-v3");
  PassContext context;
  context.target = &target;
  context.training = &training;
  auto program = RunPipeline(std::move(*graph), context, {});
  REQUIRE_MESSAGE(program.ok(), Render(program.errors()));
  return std::move(*program);
}

// The gradient of w.
FloatList GradientAt(const Program& program, float p, const FloatList& w,
                     const FloatList& label) {
  const auto outputs =
      Interpret(program, {{"p", Tensor::FromFloats({1}, FloatList{p})},
                          {"w", Tensor::FromFloats({3}, w)},
                          {"label", Tensor::FromFloats({3}, label)}});
  REQUIRE(outputs.ok());
  const auto values = outputs->back().floats();
  return {values.begin(), values.end()};
}

TEST_CASE("the gradient of a branch is that of the side that ran") {
  const Program program = Planned();
  const auto branches = std::ranges::count_if(
      program.steps,
      [](const Step& step) { return step.body.As<Branch>() != nullptr; });
  CHECK(branches == 2);
  // (y - label) · dy/dw. The logarithm of what is not above 0 has no gradient.
  const FloatList square = GradientAt(program, 0, {0, -1, 3}, {1, 2, 4});
  CHECK(square == FloatList{0, (1 - 2) * -2, (9 - 4) * 6});
  const FloatList log = GradientAt(program, 1, {1, 1, 1}, {1, 2, -3});
  CHECK(log == FloatList{-1, -2, 3});
}

TEST_CASE("both sides of a branch lie in the same bytes") {
  const Program program = Planned();
  for (const Step& step : program.steps) {
    const Branch* branch = step.body.As<Branch>();
    if (branch == nullptr) continue;
    const Buffer& workspace = program.buffers[step.outputs.back()];
    CHECK(workspace.bytes() >= branch->then->arena_bytes());
    CHECK(workspace.bytes() >= branch->otherwise->arena_bytes());
    CHECK(workspace.bytes() <
          std::max<int64_t>(64, branch->then->arena_bytes()) +
              std::max<int64_t>(64, branch->otherwise->arena_bytes()));
  }
}

TEST_CASE("choices in each other become branches up to a depth") {
  constexpr int kDepth = 24;
  std::string text = "graph @deep {\n  %0 \"p\" = input f32[1]\n";
  text += "  %1 \"x\" = input f32[3]\n  %2 \"exp\" = exp(%1) : f32[3]\n";
  for (int i = 0; i < kDepth; ++i) {
    text += fmt::format(
        "  %{0} \"y{0}\" = _choose(%0, %{1}, %1) {{num_args = \"3\"}} : "
        "f32[3]\n",
        i + 3, i + 2);
  }
  text += fmt::format("  return %{} \"y\"\n}}\n", kDepth + 2);
  auto graph =
      ParseGraph(std::make_shared<SourceFile>(SourceFile{"test", text}));
  REQUIRE_MESSAGE(graph.ok(), Render(graph.errors()));
  const Target target = *ResolveTarget("x86-64-v3");
  PassContext context;
  context.target = &target;
  const auto program = RunPipeline(std::move(*graph), context, {});
  REQUIRE_MESSAGE(program.ok(), Render(program.errors()));
  for (const float p : {0.0f, 1.0f}) {
    const auto outputs = Interpret(
        *program, {{"p", Tensor::FromFloats({1}, FloatList{p})},
                   {"x", Tensor::FromFloats({3}, FloatList{0, 0, 0})}});
    REQUIRE(outputs.ok());
    CHECK(outputs->front().floats()[0] == p);
  }
}

}  // namespace
}  // namespace mxc
