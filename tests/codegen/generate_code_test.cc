// SPDX-License-Identifier: Apache-2.0
// Whole programs: one kernel for equal steps, the same bytes every time.
#include <doctest/doctest.h>

#include "codegen/backend.h"
#include "codegen/codegen.h"
#include "ir/program/add_buffer.h"
#include "tests/codegen/map_case.h"
#include "tests/codegen/native_kernel.h"

namespace mxc::test {
namespace {

// x → relu → relu → softmax over rows → sum of each row.
Program Chain() {
  Program program;
  program.name = "chain";
  program.entry.purpose = Purpose::kInfer;
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

// Kinds that codegen does not know: one says which Map it is, one that the
// runtime moves its bytes.
struct Negation {
  std::string Print() const { return "    negate\n"; }
  std::optional<std::string> Verify(const Program&, const Step&) const {
    return std::nullopt;
  }
  void Interpret(StepValues& values) const {
    for (size_t i = 0; i < values.outputs[0].size(); ++i) {
      values.outputs[0][i] = -(*values.inputs[0])[i];
    }
  }
  std::string Key(const Program&, const Step&, const ExprText&) const {
    return "|negate";
  }
  double Flops(const Program&, const Step&) const { return 0; }
  Map Lower(const Program& program, const Step& step) const {
    const Extents dims = program.buffers[step.outputs[0]].type.shape.dims();
    return {{{0, Extents(dims.size(), 0), dims,
              -Load(0, DType::kF32, {Var(0), Var(1)})}}};
  }
};

struct Shipment : Negation {
  static constexpr Work kWork = Work::kTransfer;
};

Program Holding(StepBody body) {
  Program program;
  program.name = "toy";
  program.entry.purpose = Purpose::kInfer;
  const TensorType type = {DType::kF32, {6, 50}};
  Step& step = program.steps.emplace_back();
  step.name = "toy";
  step.inputs = {AddBuffer(program, "x", type, BufferKind::kInput)};
  step.outputs = {AddBuffer(program, "y", type, BufferKind::kOutput)};
  step.body = std::move(body);
  return program;
}

TEST_CASE("a kind that says what it lowers to has code for every target") {
  const Program program = Holding(Negation());
  for (const char* name : {"x86-64-v3", "cuda:sm_90"}) {
    CAPTURE(name);
    const auto image = GenerateCode({&program, 1}, *ResolveTarget(name), {});
    REQUIRE(image.ok());
    CHECK(image->kernels.size() == 1);
    CHECK(image->steps[0][0].tasks >= 1);
  }
  const Target target = RunnableTargets().back();
  const Step& step = program.steps[0];
  const KernelPlan plan =
      BackendOf(target).Plan(program, step, target, nullptr);
  const NativeKernel kernel(target, plan.write);
  KernelVector<float> x(6 * 50), y(x.size());
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i) - 7;
  kernel.Run({x.data(), y.data()}, 0, plan.tasks);
  for (size_t i = 0; i < x.size(); ++i) CHECK(y[i] == -x[i]);
}

TEST_CASE("a kind whose work the runtime does has no kernel") {
  const Program program = Holding(Shipment());
  const Target target = *ResolveTarget("x86-64-v3");
  const auto image = GenerateCode({&program, 1}, target, {});
  REQUIRE(image.ok());
  CHECK(image->kernels.empty());
  const StepCode& code = image->steps[0][0];
  CHECK(code.tasks == 0);
  CHECK(
      code.nanoseconds ==
      doctest::Approx(1e9 * 4 * 6 * 50 / target.machine.copy_bytes_per_second));
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
