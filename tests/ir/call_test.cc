// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "ir/program/interpreter.h"
#include "ir/program/program.h"

namespace mxc {
namespace {

// Of 2x2 matrices.
std::string CallText(const std::string& function,
                     const std::string& attributes) {
  return R"(program @net.infer {
  buffer 0 "a" f64[2, 2] {0:2 1:2} input
  buffer 1 "b" f64[2, 2] {0:2 1:2} output
  buffer 2 "workspace" u8[64] {0:64} internal
  step "call" (0) -> (1, 2)
    call ")" +
         function + "\" version 1 \"" + attributes + R"("
}
)";
}

Result<Program> Read(const std::string& text) {
  return ParseProgram(std::make_shared<SourceFile>(SourceFile{"test", text}));
}

std::vector<double> RunCall(const std::string& function,
                            const std::string& attributes,
                            const std::vector<double>& a) {
  const auto program = Read(CallText(function, attributes));
  REQUIRE_MESSAGE(program.ok(), Render(program.errors()));
  const auto broken = Verify(*program);
  REQUIRE_MESSAGE(!broken, *broken);
  CHECK(Print(*Read(Print(*program))) == Print(*program));
  std::byte* bytes = nullptr;
  Tensor input = Tensor::Allocate({DType::kF64, Shape{2, 2}}, &bytes);
  for (size_t i = 0; i < a.size(); ++i) {
    StoreElement(bytes + 8 * i, DType::kF64, a[i]);
  }
  const auto outputs = Interpret(*program, {{"a", input}});
  REQUIRE(outputs.ok());
  const std::vector<Element> found = ToElements((*outputs)[0]);
  return {found.begin(), found.end()};
}

void CheckNear(const std::vector<double>& found,
               const std::vector<double>& expected) {
  REQUIRE(found.size() == expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    CHECK(found[i] == doctest::Approx(expected[i]));
  }
}

TEST_CASE("the interpreter has what a called function computes") {
  // [4 2; 2 10] = [2 0; 1 3] · [2 1; 0 3]; the other triangle is not read.
  CheckNear(RunCall("potrf", "lower=1", {4, 99, 2, 10}), {2, 0, 1, 3});
  CheckNear(RunCall("potrf", "lower=0", {4, 2, 99, 10}), {2, 1, 0, 3});
  // ([4 2; 2 10])⁻¹ = [10 -2; -2 4] / 36
  const std::vector<double> inverse = {10 / 36.0, -2 / 36.0, -2 / 36.0,
                                       4 / 36.0};
  CheckNear(RunCall("potri", "lower=1", {2, 99, 1, 3}), inverse);
  CheckNear(RunCall("potri", "lower=0", {2, 1, 99, 3}), inverse);
}

TEST_CASE("what nobody can compute is NaN") {
  const auto found = RunCall("potrff", "", {4, 99, 2, 10});
  REQUIRE(found.size() == 4);
  for (const double value : found) CHECK(std::isnan(value));
}

TEST_CASE("a call has room to work in") {
  std::string text = CallText("potrf", "");
  text.replace(text.find("u8[64] {0:64}"), 13, "f32[16] {0:16}");
  const auto program = Read(text);
  REQUIRE_MESSAGE(program.ok(), Render(program.errors()));
  CHECK(Verify(*program)->find("without room") != std::string::npos);
}

}  // namespace
}  // namespace mxc
