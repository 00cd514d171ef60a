// SPDX-License-Identifier: Apache-2.0
// Steps that write some elements of what another tensor was.
#include "ir/program/steps/amend.h"

#include <doctest/doctest.h>

#include <cstring>

#include "ir/program/interpreter.h"
#include "ir/program/program.h"

namespace mxc {
namespace {

// Row `at` of `rows` becomes x, and two tasks write it.
std::string TextOf(const std::string& alias, const std::string& body) {
  return R"(program @net.infer {
  buffer 0 "x" f32[2] {0:2} input
  buffer 1 "at" i64[1] {0:1} input
  buffer 2 "rows" f32[3, 2] {0:3 1:2} input
  buffer 3 "y" f32[3, 2] {0:3 1:2} output)" +
         alias + R"(
  step "p" (0, 1, 2) -> (3)
    amend
)" + body +
         "}\n";
}

const char* const kWritesARow = R"(    procedure 2 {
      for i1 in 0 .. 1 {
        if %1[0] < 3 {
          set %3[%1[0], i0] = %0[i0] + f32(i1)
        }
      }
    }
)";

Result<Program> Parse(const std::string& text) {
  return ParseProgram(
      std::make_shared<SourceFile>(SourceFile{"test.ir", text}));
}

Program Parsed(const std::string& alias) {
  const auto program = Parse(TextOf(alias, kWritesARow));
  REQUIRE_MESSAGE(program.ok(), Render(program.errors()));
  const auto wrong = Verify(*program);
  REQUIRE_MESSAGE(!wrong, *wrong);
  return *program;
}

std::vector<double> Outputs(const Program& program, int64_t at) {
  std::byte* bytes = nullptr;
  const Tensor place = Tensor::Allocate({DType::kI64, Shape{1}}, &bytes);
  std::memcpy(bytes, &at, sizeof at);
  const float x[] = {7, 8}, rows[] = {1, 2, 3, 4, 5, 6};
  const auto outputs =
      Interpret(program, {{"x", Tensor::FromFloats({2}, x)},
                          {"at", place},
                          {"rows", Tensor::FromFloats({3, 2}, rows)}});
  REQUIRE(outputs.ok());
  std::vector<double> values;
  for (int64_t i = 0; i < 6; ++i) values.push_back((*outputs)[0].At(i));
  return values;
}

TEST_CASE("amend: elements that the procedure leaves are the last input's") {
  const Program program = Parsed("");
  CHECK(Outputs(program, 1) == std::vector<double>{1, 2, 7, 8, 5, 6});
  CHECK(Outputs(program, 3) == std::vector<double>{1, 2, 3, 4, 5, 6});
}

TEST_CASE("amend: a procedure says the same, with a copy unless in place") {
  Program program = Parsed("");
  const Amend amend = *program.steps[0].body.As<Amend>();
  program.steps[0].body = amend.Lower(program, program.steps[0]);
  CHECK(!Verify(program));
  CHECK(Outputs(program, 2) == std::vector<double>{1, 2, 3, 4, 7, 8});

  Program in_place = Parsed(" alias 2");
  const Procedure alone = amend.Lower(in_place, in_place.steps[0]);
  CHECK(alone.Print() == amend.procedure.Print());
  CHECK(amend.Lower(program, program.steps[0]).Print() != alone.Print());
}

TEST_CASE("amend: behind it stands a procedure, and nothing else") {
  CHECK_FALSE(Parse(TextOf("", std::string("    amend\n") + kWritesARow)).ok());
  CHECK_FALSE(
      Parse(TextOf("", "    store 0 (0, 0) + (3, 2) = %2[i0, i1]\n")).ok());
}

// In place it would read what other tasks have written.
TEST_CASE("amend: a procedure that reads what is amended is wrong") {
  const auto program = Parse(TextOf("", R"(    procedure 2 {
      set %3[0, i0] = %2[1, i0]
    }
)"));
  // The parser may verify what it read.
  const std::string wrong =
      program.ok() ? Verify(*program).value_or("") : Render(program.errors());
  CHECK(wrong.find("the procedure reads what is amended") != std::string::npos);
}

TEST_CASE("amend: another type than the last input's is wrong") {
  Program program = Parsed("");
  program.buffers[3].type.dtype = DType::kF64;
  CHECK(Verify(program).value_or("").find("becomes another type") !=
        std::string::npos);
}

}  // namespace
}  // namespace mxc
