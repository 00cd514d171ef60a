// SPDX-License-Identifier: Apache-2.0
// Procedures, compiled and compared with the interpreter.
#include <doctest/doctest.h>

#include <cstring>
#include <memory>

#include "codegen/loops/procedure_kernel.h"
#include "ir/program/add_buffer.h"
#include "ir/program/interpreter.h"
#include "ir/program/procedure_builder.h"
#include "tests/codegen/native_kernel.h"
#include "tests/ir/random_procedure.h"

namespace mxc::test {
namespace {

// Memory that ends where a page without access begins.
struct Fenced {
  explicit Fenced(int64_t bytes)
      : floats(static_cast<size_t>((bytes + 3) / 4),
               FencedFloats::Fence::kAfter) {}
  std::byte* bytes() { return reinterpret_cast<std::byte*>(floats.data()); }
  FencedFloats floats;
};

// One compiled procedure on one set of inputs.
class CompiledProcedure {
 public:
  CompiledProcedure(const Program& program, const Target& target)
      : program_(program),
        step_(program.steps[0]),
        plan_(PlanProcedure(program, step_, target)),
        kernel_(target, static_cast<int>(step_.operands().size()), plan_.emit) {
  }

  int64_t tasks() const { return plan_.tasks; }

  // Empty, or the first element that differs from what is expected.
  std::string Differs(const std::vector<Tensor>& inputs,
                      const std::vector<Tensor>& expected, bool split) {
    std::vector<std::unique_ptr<Fenced>> memory;
    std::vector<void*> operands;
    for (const int b : step_.operands()) {
      const int64_t bytes = program_.buffers[b].type.bytes();
      memory.push_back(std::make_unique<Fenced>(bytes));
      std::memset(memory.back()->bytes(), 0xff, static_cast<size_t>(bytes));
      operands.push_back(memory.back()->bytes());
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
      std::memcpy(operands[i], inputs[i].bytes(),
                  static_cast<size_t>(inputs[i].size_bytes()));
    }
    Fenced scratch(plan_.scratch_bytes);
    std::memset(scratch.bytes(), 0xff,
                static_cast<size_t>(plan_.scratch_bytes));
    // Tasks from the last to the first, or all at once.
    if (split) {
      kernel_.RunEach(operands, plan_.tasks, NativeKernel::Order::kBackwards,
                      scratch.bytes());
    } else {
      kernel_.Run(operands, 0, plan_.tasks, scratch.bytes());
    }
    for (size_t i = 0; i < expected.size(); ++i) {
      const auto* got = static_cast<std::byte*>(operands[inputs.size() + i]);
      const TensorType& type = expected[i].type();
      for (int64_t at = 0; at < type.shape.elements(); ++at) {
        const double value =
            LoadElement(got + at * SizeOf(type.dtype), type.dtype);
        if (value == expected[i].At(at)) continue;
        return fmt::format("output {} element {} is {}, expected {}", i, at,
                           value, expected[i].At(at));
      }
    }
    for (const auto& each : memory) {
      if (!each->floats.PatternIntact()) return "wrote out of bounds";
    }
    return scratch.floats.PatternIntact() ? "" : "wrote beside the scratch";
  }

 private:
  const Program& program_;
  const Step& step_;
  FunctionPlan plan_;
  NativeKernel kernel_;
};

TEST_CASE("random procedures compute what the interpreter does") {
  const Target target = RunnableTargets().back();
  for (unsigned seed = 0; seed < 60; ++seed) {
    const Program program = RandomProcedure(seed);
    INFO("seed ", seed, "\n", Print(program));
    CompiledProcedure compiled(program, target);
    for (unsigned draw = 0; draw < 3; ++draw) {
      const auto inputs = ProcedureInputs(program, seed + 100 * draw);
      const auto expected = InterpretStep(program, program.steps[0], inputs);
      CHECK(compiled.Differs(inputs, expected, false) == "");
    }
  }
}

// Each row's running sums, up to the first element that is negative; then -1.
Program RunningSums(int64_t rows, int64_t columns) {
  const TensorType type{DType::kI32, Shape{rows, columns}};
  ProcedureBuilder p({type}, {type});
  const Expr row = p.Tasks(rows);
  const ProcedureArray sums = p.Array(DType::kI32, {columns});
  const Expr end = p.Let(Expr(0)), sum = p.Let(Constant(0, DType::kI32));
  p.For(0, columns, [&](const Expr& i) {
    const Expr x = p.In(0)(row, i);
    p.If(x < Lit(0, x), [&] { p.Break(); });
    p.Set(sum, sum + x);
    p.Set(sums(i), sum);
    p.Set(end, i + 1);
  });
  p.For(0, columns, [&](const Expr& i) {
    const Expr none = Constant(-1, DType::kI32);
    p.Set(p.Out()(row, i), Select(i < end, sums(i), none));
  });
  Program program;
  Step step;
  step.inputs = {AddBuffer(program, "x", type, BufferKind::kInput)};
  step.outputs = {AddBuffer(program, "y", type, BufferKind::kOutput)};
  step.body = p.Finish();
  program.steps = {step};
  return program;
}

TEST_CASE("any split of the tasks gives the same bytes, on every level") {
  const Program program = RunningSums(700, 50);
  REQUIRE_FALSE(Verify(program).has_value());
  std::byte* bytes = nullptr;
  const Tensor x = Tensor::Allocate(program.buffers[0].type, &bytes);
  for (int64_t i = 0; i < 700 * 50; ++i) {
    StoreElement(bytes + 4 * i, DType::kI32, (i * 7919) % 101 - 2);
  }
  const auto expected = InterpretStep(program, program.steps[0], {{x}});
  CHECK(expected[0].At(0) == -1);
  for (const Target& target : RunnableTargets()) {
    CompiledProcedure compiled(program, target);
    CHECK(compiled.tasks() > 1);
    CHECK(compiled.tasks() < 700);
    CHECK(compiled.Differs({x}, expected, true) == "");
    CHECK(compiled.Differs({x}, expected, false) == "");
  }
}

}  // namespace
}  // namespace mxc::test
