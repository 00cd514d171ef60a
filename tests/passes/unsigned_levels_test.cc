// SPDX-License-Identifier: Apache-2.0
// Values of i8 that are stored 128 above give the same results bit for bit, where a
// machine multiplies data of u8 sooner.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "ir/program/interpreter.h"
#include "ir/program/program.h"
#include "ir/program/steps/contraction.h"
#include "ir/program/verify.h"
#include "ir/target/target.h"
#include "passes/passes.h"

namespace mxc {
namespace {

// Contractions that read data of u8 take half as long as those of i8.
class UnsignedCatalog : public KernelCatalog {
 public:
  std::vector<KernelCandidate> Candidates(const Contraction& c) const override {
    KernelCandidate candidate;
    candidate.cost = c.types.data == DType::kI8 ? 2e-6 : 1e-6;
    return {candidate};
  }
};

Program ProgramOf(const std::string& text) {
  const auto source = std::make_shared<SourceFile>(SourceFile{"program", text});
  auto program = ParseProgram(source);
  REQUIRE_MESSAGE(program.ok(), Render(program.errors()));
  return *std::move(program);
}

Tensor Drawn(const TensorType& type, double least, double most,
             std::mt19937& random) {
  std::uniform_real_distribution<double> draw(least, most);
  std::byte* to = nullptr;
  Tensor tensor = Tensor::Allocate(type, &to);
  for (int64_t i = 0; i < type.shape.elements(); ++i) {
    StoreElement(to + i * SizeOf(type.dtype), type.dtype, draw(random));
  }
  return tensor;
}

std::vector<Tensor> ResultsOf(const Program& program) {
  std::mt19937 random(3);
  std::map<std::string, Tensor> inputs;
  for (const Buffer& buffer : program.buffers) {
    if (buffer.kind != BufferKind::kInput) continue;
    const double least = buffer.type.dtype == DType::kU8 ? 0 : -200;
    inputs[buffer.name] = Drawn(buffer.type, least, 200, random);
  }
  auto results = Interpret(program, inputs);
  REQUIRE_MESSAGE(results.ok(), Render(results.errors()));
  return *std::move(results);
}

void SetConstants(Program& program) {
  std::mt19937 random(2);
  for (Buffer& buffer : program.buffers) {
    if (buffer.kind != BufferKind::kConstant) continue;
    buffer.constant = Drawn(buffer.type, -128, 128, random);
  }
}

// What the program computes stays; returns whether the pass changed it.
bool Changes(Program& program) {
  SetConstants(program);
  const auto before = ResultsOf(program);
  const Target target = *ResolveTarget("x86-64-v3");
  const UnsignedCatalog catalog;
  PassContext context{&target, &catalog};
  const auto changed = UnsignedLevels(program, context);
  REQUIRE(changed.ok());
  const auto broken = Verify(program);
  REQUIRE_MESSAGE(!broken, *broken);
  const auto after = ResultsOf(program);
  REQUIRE(after.size() == before.size());
  for (size_t i = 0; i < after.size(); ++i) {
    REQUIRE(after[i].type() == before[i].type());
    for (int64_t e = 0; e < after[i].shape().elements(); ++e) {
      REQUIRE(after[i].At(e) == before[i].At(e));
    }
  }
  return *changed;
}

constexpr const char* kRound =
    "i8(roundeven(max(select(%0[i0, i1] < 127.0, %0[i0, i1], 127.0), "
    "-128.0)))";

// y goes through a view and a copy into products whose weights lie either way, two
// of which share one, is added to one of them, and the caller reads it.
std::string Products(const std::string& value) {
  return R"(program @products.infer {
  buffer 0 "x" f32[5, 8] {0:5 1:8} input
  buffer 1 "v" i8[6, 8] {0:6 1:8} constant
  buffer 2 "w" i8[8, 3] {0:8 1:3} constant
  buffer 3 "y" i8[5, 8] {0:5 1:8} internal
  buffer 4 "view" i8[1, 5, 8] {0:1 1:5 2:8} internal
  buffer 5 "copy" i8[5, 8] {0:5 1:8} internal
  buffer 6 "a" f32[5, 6] {0:5 1:6} output
  buffer 7 "b" i32[5, 3] {0:5 1:3} output
  buffer 8 "c" f32[5, 8] {0:5 1:8} output
  buffer 9 "d" i8[5, 8] {0:5 1:8} output
  buffer 10 "e" i32[5, 3] {0:5 1:3} output
  step "y" (0) -> (3) from "y"
    store 0 (0, 0) + (5, 8) = )" +
         value + R"(
  step "view" (3) -> (4) view from "view"
    store 0 (0, 0, 0) + (1, 5, 8) = %0[i1, i2]
  step "copy" (4) -> (5) from "copy"
    store 0 (0, 0) + (5, 8) = %0[0, i0, i1]
  step "a" (5, 1, 3) -> (6) from "a"
    contraction n=5 g=1 k=8 m=6 input=() output=() kernel=() stride=() dilate=() pad=() types [i8 i8 i32 f32]
    axes [n k] [m k] [n m]
    epilogue f32(acc) + f32(%2[i0, i1])
  step "b" (3, 2) -> (7) from "b"
    contraction n=5 g=1 k=8 m=3 input=() output=() kernel=() stride=() dilate=() pad=() types [i8 i8 i32 i32]
    axes [n k] [k m] [n m]
    epilogue acc
  step "e" (5, 2) -> (10) from "e"
    contraction n=5 g=1 k=8 m=3 input=() output=() kernel=() stride=() dilate=() pad=() types [i8 i8 i32 i32]
    axes [n k] [k m] [n m]
    epilogue acc
  step "c" (5) -> (8) from "c"
    store 0 (0, 0) + (5, 8) = f32(%0[i0, i1]) * 0.5
  step "d" (5) -> (9) from "d"
    store 0 (0, 0) + (5, 8) = %0[i0, i1]
}
)";
}

// A convolution of z, which another has stored.
std::string Convolutions(int64_t size, int64_t pad, int64_t kernel) {
  return fmt::format(R"(program @convolutions.infer {{
  buffer 0 "x" u8[2, 4, 6, 6] {{0:2 1:4 2:6 3:6}} input
  buffer 1 "v" i8[4, 4, 1, 1] {{0:4 1:4 2:1 3:1}} constant
  buffer 2 "w" i8[3, 4, {2}, {2}] {{0:3 1:4 2:{2} 3:{2}}} constant
  buffer 3 "z" i8[2, 4, 6, 6] {{0:2 1:4 2:6 3:6}} internal
  buffer 4 "y" i32[2, 3, {0}, {0}] {{0:2 1:3 2:{0} 3:{0}}} output
  step "z" (0, 1) -> (3) from "z"
    contraction n=2 g=1 k=4 m=4 input=(6, 6) output=(6, 6) kernel=(1, 1) stride=(1, 1) dilate=(1, 1) pad=(0, 0) types [u8 i8 i32 i8]
    axes [n gk s0 s1] [gm k s0 s1] [n gm s0 s1]
    epilogue i8(roundeven(max(select(f32(acc) < 127.0, f32(acc), 127.0), -128.0)))
  step "y" (3, 2) -> (4) from "y"
    contraction n=2 g=1 k=4 m=3 input=(6, 6) output=({0}, {0}) kernel=({2}, {2}) stride=(1, 1) dilate=(1, 1) pad=({1}, {1}) types [i8 i8 i32 i32]
    axes [n gk s0 s1] [gm k s0 s1] [n gm s0 s1]
    epilogue acc
}}
)",
                     size, pad, kernel);
}

TEST_CASE(
    "levels of either sign are stored 128 above for the data of products") {
  Program program = ProgramOf(Products(kRound));
  CHECK(Changes(program));
  for (const int b : {3, 4, 5}) {
    CHECK(program.buffers[b].type.dtype == DType::kU8);
  }
  CHECK(program.buffers[9].type.dtype == DType::kI8);
  CHECK(program.buffers.size() == 13);  // of each weight the sums, once
  for (const Step& step : program.steps) {
    const ContractionStep* body = step.contraction();
    if (body != nullptr) CHECK(body->contraction.types.data == DType::kU8);
  }
}

TEST_CASE("levels that are wrapped stay as they are") {
  Program program = ProgramOf(Products("i8(i32(%0[i0, i1]))"));
  CHECK(!Changes(program));
}

TEST_CASE("windows that never leave data read it 128 above") {
  Program inside = ProgramOf(Convolutions(4, 0, 3));
  CHECK(Changes(inside));
  CHECK(inside.buffers[3].type.dtype == DType::kU8);
  Program outside = ProgramOf(Convolutions(6, 1, 3));
  CHECK(!Changes(outside));
}

}  // namespace
}  // namespace mxc
