// SPDX-License-Identifier: Apache-2.0
// Products that are gradients, and updates by them, as a loop over rows.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ir/program/interpreter.h"
#include "ir/program/steps/tile_loop.h"
#include "ir/program/verify.h"
#include "passes/passes.h"

namespace mxc {
namespace {

// A gradient of 2.4 MB; its update also reads what is the same for all rows.
const char* const kUpdate = R"text(
program @update.train {
  buffer 0 "x" f32[4, 1024] {0:4 1:1024} input
  buffer 1 "y" f32[4, 600] {0:4 1:600} input
  buffer 2 "rate" f32[1] {0:1} input
  buffer 3 "w" f32[1024, 600] {0:1024 1:600} state
  buffer 4 "m" f32[1024, 600] {0:1024 1:600} state as kept "w"
  buffer 5 "g" f32[1024, 600] {0:1024 1:600} internal
  buffer 6 "m/next" f32[1024, 600] {0:1024 1:600} next 4 alias 4
  buffer 7 "w/next" f32[1024, 600] {0:1024 1:600} next 3 alias 3
  buffer 8 "x/layout" f32[4, 1024] {1:1024 0:4} internal
  step "x" (0) -> (8) from "g"
    store 0 (0, 0) + (4, 1024) = %0[i0, i1]
  step "g" (8, 1) -> (5) from "g"
    contraction n=1024 g=1 k=4 m=600 input=() output=() kernel=() stride=() dilate=() pad=()
    axes [k n] [k m] [n m]
    epilogue acc
  step "w" (4, 3, 5, 2) -> (6, 7) from "w"
    store 0 (0, 0) + (1024, 600) = (0.5 * %0[i0, i1]) - (%3[0] * %2[i0, i1])
    store 1 (0, 0) + (1024, 600) = %1[i0, i1] + ((0.5 * %0[i0, i1]) - (%3[0] * %2[i0, i1]))
}
)text";

Program Parsed(const std::string& text) {
  auto file = std::make_shared<SourceFile>();
  file->text = text;
  auto program = ParseProgram(file);
  REQUIRE_MESSAGE(program.ok(), Render(program.errors()));
  const auto error = Verify(*program);
  REQUIRE_MESSAGE(!error, error.value_or(""));
  return std::move(*program);
}

bool Tiled(Program& program) {
  const TrainingOptions options;
  PassContext context;
  context.training = &options;
  const auto changed = TileAndFuse(program, context);
  REQUIRE(changed.ok());
  const auto error = Verify(program);
  CAPTURE(Print(program));
  REQUIRE_MESSAGE(!error, error.value_or(""));
  return *changed;
}

Tensor Drawn(const TensorType& type, int64_t seed) {
  std::vector<float> values;
  for (int64_t i = 0; i < type.shape.elements(); ++i) {
    values.push_back(static_cast<float>((i * 37 + seed * 11) % 101 - 50) / 64);
  }
  return Tensor::FromFloats(type.shape, values);
}

std::map<std::string, Tensor> NextStates(const Program& program) {
  std::map<std::string, Tensor> values, next;
  for (const Buffer& buffer : program.buffers) {
    const bool given =
        buffer.kind == BufferKind::kInput || buffer.kind == BufferKind::kState;
    const auto seed = static_cast<int64_t>(buffer.name.size()) + buffer.name[0];
    if (given) values[buffer.name] = Drawn(buffer.type, seed);
  }
  InterpreterOptions options;
  options.next_states = &next;
  REQUIRE(Interpret(program, values, options).ok());
  return next;
}

TEST_CASE("a gradient that no cache holds is never there as a whole") {
  const Program whole = Parsed(kUpdate);
  Program tiled = whole;
  REQUIRE(Tiled(tiled));
  REQUIRE(tiled.steps.size() == 2);
  REQUIRE(tiled.steps[1].loop() != nullptr);
  CHECK(tiled.steps[1].scratch_bytes < whole.buffers[5].bytes() / 16);
  for (const Buffer& buffer : tiled.buffers) CHECK(buffer.name != "g");
  const auto want = NextStates(whole), got = NextStates(tiled);
  for (const char* name : {"w", "m"}) {
    const auto a = want.at(name).floats(), b = got.at(name).floats();
    CHECK(std::ranges::equal(a, b));
  }
}

TEST_CASE("it stays where something else reads it, or rows cannot be dealt") {
  std::string read_twice = kUpdate;
  const auto replace = [](std::string& text, const std::string& from,
                          const std::string& to) {
    const size_t at = text.find(from);
    REQUIRE(at != text.npos);
    text.replace(at, from.size(), to);
  };
  replace(read_twice, "\n}\n", R"text(
  step "sum" (5) -> (9) from "w"
    store 0 (0) + (1) = sum{r0 in 0 .. 1024}(%0[r0, 0])
}
)text");
  replace(read_twice, "  step \"x\"",
          "  buffer 9 \"sum\" f32[1] {0:1} output\n  step \"x\"");
  Program program = Parsed(read_twice);
  CHECK(!Tiled(program));

  std::string across = kUpdate;  // the update reads another row's gradient
  replace(across, "%2[i0, i1]", "%2[1023 - i0, i1]");
  program = Parsed(across);
  CHECK(!Tiled(program));

  std::string prime = kUpdate;
  for (size_t at = prime.find("1024"); at != prime.npos;
       at = prime.find("1024", at)) {
    prime.replace(at, 4, "1021");
  }
  program = Parsed(prime);
  CHECK(!Tiled(program));
}

}  // namespace
}  // namespace mxc
