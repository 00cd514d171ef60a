// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <vector>

#include "ir/program/interpreter.h"
#include "ir/program/program.h"

namespace mxc {
namespace {

// Where p is not 0, the element of x that `at` names, twice; else x + 1.
const char* const kPick = R"(program @net.infer {
  buffer 0 "p" f32[1] {0:1} input
  buffer 1 "x" f32[4] {0:4} input
  buffer 2 "at" i64[1] {0:1} input
  buffer 3 "y" f32[4] {0:4} output
  buffer 4 "workspace" u8[64] {0:64} internal
  step "choice" (0, 1, 2) -> (3, 4)
    branch {
      buffer 0 "p" f32[1] {0:1} input
      buffer 1 "x" f32[4] {0:4} input
      buffer 2 "at" i64[1] {0:1} input
      buffer 3 "y" f32[4] {0:4} output
      buffer 4 "picked" f32[4] {0:4} internal
      step "pick" (1, 2) -> (4)
        store 0 (0) + (4) = %0[%1[0]]
      step "double" (4) -> (3)
        store 0 (0) + (4) = %0[i0] * 2.0
    } else {
      buffer 0 "p" f32[1] {0:1} input
      buffer 1 "x" f32[4] {0:4} input
      buffer 2 "at" i64[1] {0:1} input
      buffer 3 "y" f32[4] {0:4} output
      step "add" (1) -> (3)
        store 0 (0) + (4) = %0[i0] + 1.0
    }
}
)";

Result<Program> ParsedPick(const std::string& text) {
  return ParseProgram(std::make_shared<SourceFile>(SourceFile{"test", text}));
}

std::vector<float> RunPick(float p, double at) {
  const auto program = ParsedPick(kPick);
  REQUIRE_MESSAGE(program.ok(), Render(program.errors()));
  const auto broken = Verify(*program);
  REQUIRE_MESSAGE(!broken, *broken);
  const auto outputs = Interpret(
      *program,
      {{"p", Tensor::FromFloats({1}, std::vector<float>{p})},
       {"x", Tensor::FromFloats({4}, std::vector<float>{10, 20, 30, 40})},
       {"at", Tensor::Filled({DType::kI64, Shape{1}}, at)}});
  REQUIRE(outputs.ok());
  const auto values = outputs->front().floats();
  return {values.begin(), values.end()};
}

TEST_CASE("a branch runs the side that the condition chooses") {
  CHECK(RunPick(1, 2) == std::vector<float>{60, 60, 60, 60});
  CHECK(RunPick(-0.5, 0) == std::vector<float>{20, 20, 20, 20});
  CHECK(RunPick(std::numeric_limits<float>::quiet_NaN(), 3)[0] == 80);
  CHECK(RunPick(0, 2) == std::vector<float>{11, 21, 31, 41});
  CHECK(RunPick(-0.0f, 2) == std::vector<float>{11, 21, 31, 41});
}

TEST_CASE("a branch does not run the other side") {
  // The interpreter would abort at an index beyond the end.
  CHECK(RunPick(0, 1000) == std::vector<float>{11, 21, 31, 41});
}

TEST_CASE("a branch prints what it is read from") {
  const auto program = ParsedPick(kPick);
  REQUIRE(program.ok());
  CHECK(Print(*program) == kPick);
}

Program PickWith(const std::string& from, const std::string& to) {
  std::string text = kPick;
  const size_t at = text.rfind(from);
  REQUIRE(at != std::string::npos);
  text.replace(at, from.size(), to);
  auto program = ParsedPick(text);
  REQUIRE_MESSAGE(program.ok(), Render(program.errors()));
  return std::move(*program);
}

TEST_CASE("a branch costs what its dearer side costs") {
  const Program cheap_else = PickWith("%0[i0] + 1.0", "%0[i0]");
  CHECK(cheap_else.steps[0].flops(cheap_else) == 4);
  const Program cheap_then = PickWith("%0[i0] * 2.0", "%0[i0]");
  CHECK(cheap_then.steps[0].flops(cheap_then) == 4);
}

TEST_CASE("a branch whose sides do not fit its operands does not verify") {
  const auto error = [](const std::string& from, const std::string& to) {
    return Verify(PickWith(from, to)).value_or("");
  };
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  CHECK(has(error("\"y\" f32[4] {0:4} output", "\"y\" f64[4] {0:4} output"),
            "else: operand 3"));
  CHECK(has(error("\"x\" f32[4] {0:4} input", "\"x\" f32[4] {0:4} internal"),
            "else: operand 1"));
  CHECK(has(error("(1) -> (3)", "(1) -> (2)"), "else"));
  CHECK(has(error("u8[64] {0:64}", "f32[64] {0:64}"), "room"));
  CHECK(has(error("(0, 1, 2) -> (3, 4)", "(1, 0, 2) -> (3, 4)"),
            "a condition of more than one element"));
}

TEST_CASE("branches with different sides have different keys") {
  const auto key = [](const Program& program) {
    return KeyOf(program, program.steps[0],
                 [](const Expr& e) { return Print(e); });
  };
  const std::string whole = key(PickWith("1.0", "1.0"));
  CHECK(key(PickWith("%0[i0] + 1.0", "%0[i0]")) != whole);
  CHECK(key(PickWith("%0[i0] * 2.0", "%0[i0] * 3.0")) != whole);
}

}  // namespace
}  // namespace mxc
