// SPDX-License-Identifier: Apache-2.0
#include "ir/program/steps/procedure.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "ir/program/interpreter.h"
#include "ir/program/procedure_builder.h"
#include "tests/ir/random_procedure.h"

namespace mxc {
namespace {

std::shared_ptr<const SourceFile> ProcedureFile(std::string text) {
  return std::make_shared<SourceFile>(SourceFile{"test.ir", std::move(text)});
}

// A program of one procedure: f32[2, 4] → i32[2, 4].
std::string WithBody(const std::string& body) {
  return R"(program @net.infer {
  buffer 0 "x" f32[2, 4] {0:2 1:4} input
  buffer 1 "y" i32[2, 4] {0:2 1:4} output
  step "p" (0) -> (1)
    procedure 2 {
)" + body +
         "    }\n}\n";
}

std::vector<double> RunBody(const std::string& body, std::vector<float> x) {
  const auto program = ParseProgram(ProcedureFile(WithBody(body)));
  REQUIRE_MESSAGE(program.ok(), Render(program.errors()));
  const auto wrong = Verify(*program);
  REQUIRE_MESSAGE(!wrong, *wrong);
  const auto outputs =
      Interpret(*program, {{"x", Tensor::FromFloats({2, 4}, x)}});
  REQUIRE(outputs.ok());
  std::vector<double> values;
  for (int64_t i = 0; i < 8; ++i) values.push_back((*outputs)[0].At(i));
  return values;
}

TEST_CASE("loops, breaks, branches and locals") {
  // Each element's distance from the last one before it that is negative.
  CHECK(RunBody(R"(
      local i32[]
      for i1 in 0 .. 4 {
        set %2[] = -1:i32
        for i2 in 0 .. i1 + 1 at most 4 {
          if %0[i0, i1 - i2] < 0.0 {
            set %2[] = i32(i2)
            break
          }
        }
        set %1[i0, i1] = %2[]
      }
)",
                {1, -1, 2, 3, -5, 4, -6, -7}) ==
        std::vector<double>{-1, 0, 1, 2, 0, 1, 0, 0});
}

TEST_CASE("a loop runs at most so many rounds, whatever its bounds are") {
  CHECK(RunBody(R"(
      local i64[4]
      for i1 in 0 .. 4 {
        set %2[i1] = 0
        for i2 in -3 .. i64(%0[i0, i1]) at most 5 {
          set %2[i1] = %2[i1] + 1
        }
        if %2[i1] % 2 == 0 {
          set %1[i0, i1] = i32(%2[i1])
        } else {
          set %1[i0, i1] = i32(0 - %2[i1])
        }
      }
)",
                {-9, -3, -2, 0, 1, 2, 3, 1e9}) ==
        std::vector<double>{0, 0, -1, -3, 4, -5, -5, -5});
}

TEST_CASE("a value of a local is rounded to its type") {
  CHECK(RunBody(R"(
      local u8[]
      for i1 in 0 .. 4 {
        set %2[] = u8(%0[i0, i1])
        set %2[] = %2[] + 200:u8
        set %1[i0, i1] = i32(%2[])
      }
)",
                {0, 55, 56, 100, 1.9F, 2, 3, 4}) ==
        std::vector<double>{200, 255, 0, 44, 201, 202, 203, 204});
}

TEST_CASE("what is wrong with a procedure is said") {
  const std::pair<const char*, const char*> cases[] = {
      {"set %0[i0, 0] = 1.0", "%0[i0, 0] is written, an input"},
      {"set %1[i0, 0] = 1.0", "1.0 is f32, expected i32"},
      {"set %1[i0] = 1:i32", "%1 is i32[2, 4], not i32 with 1 indices"},
      {"set %1[i0, 4] = 1:i32", "%1[i0, 4] is out of i32[2, 4]"},
      {"set %1[i0, i1] = 1:i32", "variable 1 is unbound"},
      {"for i1 in 1 .. 5 { set %1[i0, i1 + 3] = 1:i32 }",
       "%1[i0, i1 + 3] is out of i32[2, 4]"},
      {"set %1[0 - i0 - 1, 0] = 1:i32", "is out of i32[2, 4]"},
      {"break", "a break outside of a loop"},
      {"for i1 in 0 .. 4 { break set %1[i0, i1] = 1:i32 }",
       "a statement behind a break"},
      {"if 1 { }", "1 is i64, expected bool"},
      {"for i1 in 0.5 .. 2 at most 2 { }", "0.5 is f32, expected i64"},
      {"for i1 in 0 .. 4 at most -1 { }", "a loop of at most -1 rounds"},
      {"local f64[1000000, 1000000] set %1[i0, 0] = 1:i32",
       "locals of too many bytes"},
      {"local f64[0] set %1[i0, 0] = 1:i32", "a local f64[0]"},
  };
  for (const auto& [body, expected] : cases) {
    CAPTURE(body);
    const auto program = ParseProgram(ProcedureFile(WithBody(body)));
    REQUIRE_MESSAGE(program.ok(), Render(program.errors()));
    const auto wrong = Verify(*program);
    REQUIRE(wrong.has_value());
    CHECK_MESSAGE(wrong->find(expected) != std::string::npos, *wrong);
  }
}

TEST_CASE("an index that is wrong where nobody comes is not refused") {
  CHECK(RunBody(R"(
      for i1 in 0 .. 4 {
        set %1[i0, i1] = select(i1 < 0, i32(%0[i0, i1 - 9]), 7:i32)
        if i1 < 0 {
          set %1[i0, i1 - 9] = 0:i32
        }
      }
)",
                std::vector<float>(8)) == std::vector<double>(8, 7));
}

TEST_CASE("a loop whose rounds data could say without end is not read") {
  const auto program =
      ParseProgram(ProcedureFile(WithBody("for i1 in 0 .. i64(%0[0, 0]) { }")));
  REQUIRE_FALSE(program.ok());
  CHECK(program.errors()[0].message.find("'at most' and how many rounds") !=
        std::string::npos);
}

TEST_CASE("procedures print and parse back to the same text") {
  for (unsigned seed = 0; seed < 200; ++seed) {
    const Program program = RandomProcedure(seed);
    const std::string text = Print(program);
    INFO("seed ", seed, "\n", text);
    const auto wrong = Verify(program);
    REQUIRE_MESSAGE(!wrong, *wrong);
    const auto parsed = ParseProgram(ProcedureFile(text));
    REQUIRE_MESSAGE(parsed.ok(), Render(parsed.errors()));
    CHECK(Print(*parsed) == text);
    CHECK(Hash(*parsed) == Hash(program));
    const auto again = Verify(*parsed);
    CHECK_MESSAGE(!again, *again);
  }
}

TEST_CASE("damaged procedures are refused or read, never worse") {
  std::mt19937 random(11);
  int refused = 0, wrong = 0;
  for (unsigned seed = 0; seed < 20; ++seed) {
    const std::string text = Print(RandomProcedure(seed));
    for (int i = 0; i < 100; ++i) {
      std::string damaged = text;
      damaged[random() % text.size()] = text[random() % text.size()];
      const auto parsed = ParseProgram(ProcedureFile(damaged));
      if (!parsed.ok()) {
        ++refused;
        CHECK(parsed.errors()[0].loc.known());
      } else if (Verify(*parsed)) {
        ++wrong;
      }
    }
  }
  CHECK(refused > 200);
  CHECK(wrong > 10);
}

TEST_CASE("what a procedure costs") {
  ProcedureBuilder p({{DType::kF32, Shape{3, 5}}}, {{DType::kF32, Shape{3}}});
  const Expr row = p.Tasks(3);
  const Expr sum = p.Let(Constant(0));
  p.Array(DType::kI8, {100});
  p.Array(DType::kF64, {2});
  p.For(0, 5, [&](const Expr& i) {
    const Expr x = p.In(0)(row, i);
    p.Set(sum, sum + x * x);
  });
  p.Set(p.Out()(row), sum);
  Program program;
  Step step;
  const Procedure procedure = p.Finish();
  CHECK(procedure.Flops(program, step) == 3 * 5 * 2);
  CHECK(procedure.MostStatements() == 1 + 1 + 5 + 1);
  CHECK(procedure.ScratchOffsets() == std::vector<int64_t>{0, 0, 128, 192});
}

}  // namespace
}  // namespace mxc
