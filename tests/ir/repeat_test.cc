// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "ir/program/interpreter.h"
#include "ir/program/program.h"

namespace mxc {
namespace {

Program Parsed(const std::string& text) {
  const auto program =
      ParseProgram(std::make_shared<SourceFile>(SourceFile{"test", text}));
  REQUIRE_MESSAGE(program.ok(), Render(program.errors()));
  const auto broken = Verify(*program);
  REQUIRE_MESSAGE(!broken, *broken);
  return *program;
}

std::vector<float> ListOf(const Tensor& tensor) {
  return {tensor.floats().begin(), tensor.floats().end()};
}

// Sums of the rows so far, with what they begin with, and the last row times 2.
std::string Sums(const std::string& order) {
  return R"(program @net.infer {
  buffer 0 "x" f32[3, 2] {0:3 1:2} input
  buffer 1 "first" f32[2] {0:2} input
  buffer 2 "sums" f32[4, 2] {0:4 1:2} output
  buffer 3 "last" f32[2] {0:2} output
  buffer 4 "workspace" u8[64] {0:64} internal
  step "scan" (0, 1) -> (2, 3, 4)
    repeat 3 )" +
         order + R"((slices, whole, slices, whole) carry 1 from 2 {
      buffer 0 "x" f32[2] {0:2} input
      buffer 1 "before" f32[2] {0:2} input
      buffer 2 "sum" f32[2] {0:2} output
      buffer 3 "twice" f32[2] {0:2} output
      step "add" (0, 1) -> (2)
        store 0 (0) + (2) = %0[i0] + %1[i0]
      step "double" (2) -> (3)
        store 0 (0) + (2) = %0[i0] * 2.0
    }
}
)";
}

std::vector<Tensor> RunSums(const std::string& order) {
  const auto outputs = Interpret(
      Parsed(Sums(order)),
      {{"x",
        Tensor::FromFloats({3, 2}, std::vector<float>{1, 10, 2, 20, 3, 30})},
       {"first", Tensor::FromFloats({2}, std::vector<float>{100, 1000})}});
  REQUIRE(outputs.ok());
  return *outputs;
}

TEST_CASE("each turn sees its slice and what the turn before left") {
  const auto outputs = RunSums("");
  CHECK(ListOf(outputs[0]) ==
        std::vector<float>{100, 1000, 101, 1010, 103, 1030, 106, 1060});
  CHECK(ListOf(outputs[1]) == std::vector<float>{212, 2120});
}

TEST_CASE("a reversed repeat begins with the last slice") {
  const auto outputs = RunSums("reversed ");
  CHECK(ListOf(outputs[0]) ==
        std::vector<float>{106, 1060, 105, 1050, 103, 1030, 100, 1000});
  CHECK(ListOf(outputs[1]) == std::vector<float>{212, 2120});
}

// (a, b) ← (b, a + b): both are read before either changes.
const char* const kFibonacci = R"(program @net.infer {
  buffer 0 "a" f32[1] {0:1} input
  buffer 1 "b" f32[1] {0:1} input
  buffer 2 "all" f32[7, 1] {0:7 1:1} output
  buffer 3 "b_next" f32[1] {0:1} output
  buffer 4 "workspace" u8[64] {0:64} internal
  step "scan" (0, 1) -> (2, 3, 4)
    repeat 6 (whole, whole, slices, whole) carry 0 from 2 carry 1 from 3 {
      buffer 0 "a" f32[1] {0:1} input
      buffer 1 "b" f32[1] {0:1} state
      buffer 2 "a_next" f32[1] {0:1} output
      buffer 3 "b_next" f32[1] {0:1} next 1
      step "shift" (1) -> (2)
        store 0 (0) + (1) = %0[i0]
      step "add" (0, 1) -> (3)
        store 0 (0) + (1) = %0[i0] + %1[i0]
    }
}
)";

TEST_CASE("what is carried changes between turns, all at once") {
  const auto outputs =
      Interpret(Parsed(kFibonacci),
                {{"a", Tensor::FromFloats({1}, std::vector<float>{0})},
                 {"b", Tensor::FromFloats({1}, std::vector<float>{1})}});
  REQUIRE(outputs.ok());
  CHECK(ListOf((*outputs)[0]) == std::vector<float>{0, 1, 1, 2, 3, 5, 8});
  CHECK(ListOf((*outputs)[1]) == std::vector<float>{13});
}

// Powers of 2 as long as the last is below the limit, of `count` slices.
std::string Powers(const std::string& order) {
  return R"(program @net.infer {
  buffer 0 "first" f32[1] {0:1} input
  buffer 1 "on" f32[1] {0:1} input
  buffer 2 "limit" f32[1] {0:1} input
  buffer 3 "count" i64[1] {0:1} input
  buffer 4 "last" f32[1] {0:1} output
  buffer 5 "holds" f32[1] {0:1} output
  buffer 6 "rows" f32[5, 1] {0:5 1:1} output
  buffer 7 "workspace" u8[64] {0:64} internal
  step "scan" (0, 1, 2, 3) -> (4, 5, 6, 7)
    repeat 5 )" +
         order +
         R"((whole, whole, whole, whole, whole, whole, slices) )"
         R"(carry 0 from 4 carry 1 from 5 while 5 count 3 {
      buffer 0 "before" f32[1] {0:1} state
      buffer 1 "on" f32[1] {0:1} state
      buffer 2 "limit" f32[1] {0:1} input
      buffer 3 "count" i64[1] {0:1} input
      buffer 4 "after" f32[1] {0:1} next 0
      buffer 5 "holds" f32[1] {0:1} next 1
      buffer 6 "row" f32[1] {0:1} output
      step "double" (0) -> (6)
        store 0 (0) + (1) = %0[i0] * 2.0
      step "test" (6, 2) -> (5)
        store 0 (0) + (1) = select(%0[i0] < %1[i0], 1.0, 0.0)
      step "keep" (6) -> (4)
        store 0 (0) + (1) = %0[i0]
    }
}
)";
}

using FloatList = std::vector<float>;

FloatList RunPowers(const std::string& order, float on, float limit,
                    double count) {
  const auto scalar = [](float value) {
    return Tensor::FromFloats({1}, FloatList{value});
  };
  const auto outputs =
      Interpret(Parsed(Powers(order)),
                {{"first", scalar(1)},
                 {"on", scalar(on)},
                 {"limit", scalar(limit)},
                 {"count", Tensor::Filled({DType::kI64, Shape{1}}, count)}});
  REQUIRE(outputs.ok());
  FloatList rows = ListOf((*outputs)[2]);
  rows.push_back((*outputs)[0].floats()[0]);
  return rows;
}

TEST_CASE("a repeat ends by its condition or its count") {
  CHECK(RunPowers("", 1, 100, 5) == FloatList{2, 4, 8, 16, 32, 32});
  CHECK(RunPowers("", 1, 8, 5) == FloatList{2, 4, 8, 0, 0, 8});
  CHECK(RunPowers("", 1, 100, 2) == FloatList{2, 4, 0, 0, 0, 4});
  CHECK(RunPowers("", 1, 100, 0) == FloatList{0, 0, 0, 0, 0, 1});
  CHECK(RunPowers("", 0, 100, 5) == FloatList{0, 0, 0, 0, 0, 1});
  CHECK(RunPowers("reversed ", 1, 100, 3) == FloatList{8, 4, 2, 0, 0, 8});
}

TEST_CASE("a repeat prints what it is read from") {
  for (const std::string& text :
       {Sums(""), Sums("reversed "), Powers(""), std::string(kFibonacci)}) {
    const Program program = Parsed(text);
    CHECK(Print(Parsed(Print(program))) == Print(program));
  }
}

std::string BrokenWith(const std::string& from, const std::string& to,
                       std::string text = Sums("")) {
  const size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  text.replace(at, from.size(), to);
  const auto program =
      ParseProgram(std::make_shared<SourceFile>(SourceFile{"test", text}));
  REQUIRE_MESSAGE(program.ok(), Render(program.errors()));
  return Verify(*program).value_or("");
}

TEST_CASE("a repeat whose body does not fit its operands does not verify") {
  CHECK(BrokenWith("repeat 3", "repeat 4").find("a slice of another shape") !=
        std::string::npos);
  CHECK(BrokenWith("carry 1 from 2", "carry 0 from 2").find("carry") !=
        std::string::npos);
  CHECK(BrokenWith("carry 1 from 2", "carry 1 from 0").find("carry") !=
        std::string::npos);
  CHECK(BrokenWith("carry 1 from 2", "carry 1 from 3").find("another kind") !=
        std::string::npos);
  CHECK(BrokenWith(" carry 1 from 2", "").find("a slice of another shape") !=
        std::string::npos);
  CHECK(BrokenWith("(slices, whole,", "(whole, whole,")
            .find("another shape or layout") != std::string::npos);
  CHECK(BrokenWith("u8[64] {0:64}", "f32[64] {0:64}").find("room") !=
        std::string::npos);
  CHECK(BrokenWith("(0, 1) -> (2)", "(0, 1) -> (0)").find("body") !=
        std::string::npos);
  CHECK(BrokenWith("      step \"add\"",
                   "      buffer 4 \"more\" f32[2] {0:2} output\n"
                   "      step \"add\"")
            .find("body: buffer 4 is an input or output but no operand's") !=
        std::string::npos);
}

TEST_CASE("a repeat that ends by what it has not does not verify") {
  const auto broken = [](const std::string& from, const std::string& to) {
    return BrokenWith(from, to, Powers(""));
  };
  const std::string no_condition =
      "a condition that is no element which turns hand on";
  CHECK(broken("while 5", "while 0").ends_with(no_condition));
  CHECK(broken("while 5", "while 6").ends_with(no_condition));
  CHECK(
      broken("while 5", "while 7").ends_with("a condition that is no output"));
  const std::string no_count = "a count that is no element of an input";
  CHECK(broken("count 3", "count 0").ends_with(no_count));
  CHECK(broken("count 3", "count 4").ends_with(no_count));
  CHECK(
      broken("count 3", "count 2").ends_with("a count that is no i32 or i64"));
  CHECK(BrokenWith(" carry 1 from 2 {", " carry 1 from 2 count 0 {")
            .ends_with(no_count));
}

TEST_CASE("operations of a repeat are those of all turns") {
  const Program program = Parsed(Sums(""));
  CHECK(program.steps[0].flops(program) == 3 * (2 + 2));
}

}  // namespace
}  // namespace mxc
