// SPDX-License-Identifier: Apache-2.0
// Whole programs: one kernel for equal steps, the same bytes every time.
#include <doctest/doctest.h>

#include "codegen/codegen.h"
#include "ir/program/add_buffer.h"
#include "tests/codegen/map_case.h"

namespace mxc::test {
namespace {

// x → relu → relu → softmax over rows → sum of each row.
Program Chain() {
  Program program;
  program.name = "chain";
  program.entry = "infer";
  const Shape matrix{6, 50}, column{6};
  const auto buffer = [&](const char* name, const Shape& shape,
                          BufferKind kind) {
    return AddBuffer(program, name, {DType::kF32, shape}, kind);
  };
  const int x = buffer("x", matrix, BufferKind::kInput);
  const int a = buffer("a", matrix, BufferKind::kInternal);
  const int b = buffer("b", matrix, BufferKind::kInternal);
  const int p = buffer("p", matrix, BufferKind::kInternal);
  const int sum = buffer("sum", column, BufferKind::kOutput);
  const auto step = [&](const char* name, int in, int out, const Expr& value) {
    Step s;
    s.name = name;
    s.inputs = {in};
    s.outputs = {out};
    const Shape& shape = program.buffers[static_cast<size_t>(out)].type.shape;
    s.body = Map{{{0, Extents(static_cast<size_t>(shape.rank()), 0),
                   shape.dims(), value}}};
    program.steps.push_back(s);
  };
  const Expr own = Load(0, DType::kF32, {Var(0), Var(1)});
  const auto at = [](const Expr& r) {
    return Load(0, DType::kF32, {Var(0), r});
  };
  const auto exponentials = [&] {
    return SumOver(50, [&](const Expr& r) { return Exp(at(r)); });
  };
  step("relu1", x, a, Max(own, Constant(0)));
  step("relu2", a, b, Max(own, Constant(0)));
  step("softmax", b, p, Exp(own) / exponentials());
  step("sum", p, sum, SumOver(50, at));
  return program;
}

}  // namespace

TEST_CASE("equal steps share a kernel; names read like the model") {
  const Target target = *ResolveTarget("x86-64-v3");
  const Program program = Chain();
  const auto image = GenerateCode({&program, 1}, target, {});
  REQUIRE(image.ok());
  std::vector<std::string> names;
  for (const KernelRow& kernel : image->kernels) names.push_back(kernel.name);
  CHECK(names == std::vector<std::string>{"mxc_chain_000_relu1_f32",
                                          "mxc_chain_001_softmax_f32",
                                          "mxc_chain_002_sum_f32"});
  REQUIRE(image->steps.size() == 1);
  CHECK(image->steps[0][0].kernel == image->steps[0][1].kernel);
  CHECK(image->steps[0][3].tasks == 1);
}

TEST_CASE("the same bytes every time, for any number of compile threads") {
  for (const char* name : {"x86-64-v2", "x86-64-v3", "x86-64-v4"}) {
    const Target target = *ResolveTarget(name);
    const Program program = Chain(), again = Chain();
    CodegenOptions one, three;
    one.threads = 1;
    three.threads = 3;
    const auto first = GenerateCode({&program, 1}, target, one);
    const auto second = GenerateCode({&again, 1}, target, three);
    REQUIRE(first.ok());
    REQUIRE(second.ok());
    CHECK(first->objects == second->objects);
  }
}

TEST_CASE("native is a level that this machine covers") {
  const auto native = ResolveTarget("native");
  REQUIRE(native.ok());
  const auto named = ResolveTarget(native->name);
  REQUIRE(named.ok());
  CHECK(named->features == native->features);
  const auto unknown = ResolveTarget("pentium");
  REQUIRE_FALSE(unknown.ok());
  CHECK(unknown.errors()[0].message.find("x86-64-v3") != std::string::npos);
}

}  // namespace mxc::test
