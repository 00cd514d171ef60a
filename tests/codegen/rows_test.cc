// SPDX-License-Identifier: Apache-2.0
// Updates of rows, compiled and compared with the interpreter: over what they
// keep, and beside it.
#include <doctest/doctest.h>

#include <cstring>
#include <memory>
#include <vector>

#include "codegen/cpu/task_ranges.h"
#include "codegen/loops/row_kernel.h"
#include "ir/program/add_buffer.h"
#include "ir/program/interpreter.h"
#include "ir/program/steps/row_update.h"
#include "tests/codegen/native_kernel.h"

namespace mxc::test {
namespace {

constexpr int64_t kTableRows = 90, kSlots = 40;

// momentum' = momentum / 2 - gradient, table' = table + momentum', of the rows
// that slots name.
Program MomentumOfRows(int64_t slots, Extents inner, bool in_place) {
  Extents dims = {kTableRows}, slot_dims = {slots};
  dims.insert(dims.end(), inner.begin(), inner.end());
  slot_dims.insert(slot_dims.end(), inner.begin(), inner.end());
  const TensorType type{DType::kF32, Shape(dims)};
  Program program;
  Step step;
  step.inputs = {AddBuffer(program, "table", type, BufferKind::kState),
                 AddBuffer(program, "momentum", type, BufferKind::kState),
                 AddBuffer(program, "rows", {DType::kI64, Shape{slots}},
                           BufferKind::kInput),
                 AddBuffer(program, "gradient", {DType::kF32, Shape(slot_dims)},
                           BufferKind::kInput)};
  for (const int state : {0, 1}) {
    const int next = AddBuffer(program, "next", type, BufferKind::kNextState);
    program.buffers[next].state = state;
    if (in_place) program.buffers[next].alias_of = state;
    step.outputs.push_back(next);
  }
  const int rank = type.shape.rank();
  std::vector<Expr> own, of_slot = {Var(rank)};
  for (int axis = 0; axis < rank; ++axis) own.push_back(Var(axis));
  of_slot.insert(of_slot.end(), own.begin() + 1, own.end());
  const auto load = [](int operand, const std::vector<Expr>& at) {
    return Load(operand, DType::kF32, at);
  };
  RowUpdate update;
  update.slots = slots;
  update.row = Load(2, DType::kI64, {Var(rank)});
  const Expr moved = load(1, own) * Constant(0.5) - load(3, of_slot);
  update.changes = {{load(0, own), load(0, own) + moved},
                    {load(1, own), moved}};
  step.body = std::move(update);
  program.steps = {step};
  return program;
}

// Numbers that sums and halves of f32 hold exactly. Some slots name no row.
std::vector<Tensor> InputsOf(const Program& program) {
  std::vector<Tensor> inputs;
  for (const int b : program.steps[0].inputs) {
    const TensorType& type = program.buffers[b].type;
    std::byte* bytes = nullptr;
    inputs.push_back(Tensor::Allocate(type, &bytes));
    for (int64_t i = 0; i < type.shape.elements(); ++i) {
      const int64_t row = i % 7 == 3 ? -1 : i % 11 == 5 ? kTableRows : 2 * i;
      StoreElement(bytes + i * SizeOf(type.dtype), type.dtype,
                   IsFloat(type.dtype) ? (i * 7919) % 101 - 50 : row);
    }
  }
  return inputs;
}

// Empty, or what differs from the interpreter's.
std::string Differs(const Program& program, const Target& target, bool split) {
  const Step& step = program.steps[0];
  const FunctionPlan plan = PlanRows(program, step, target, kTaskRanges);
  const NativeKernel kernel(target, static_cast<int>(step.operands().size()),
                            plan.emit);
  const std::vector<Tensor> inputs = InputsOf(program);
  std::vector<std::unique_ptr<FencedFloats>> memory(program.buffers.size());
  std::vector<void*> operands;
  for (const int b : step.operands()) {
    auto& own = memory[static_cast<size_t>(program.Root(b))];
    const int64_t bytes = program.buffers[b].type.bytes();
    if (own == nullptr) {
      own = std::make_unique<FencedFloats>(static_cast<size_t>(bytes / 4),
                                           FencedFloats::Fence::kAfter);
    }
    operands.push_back(own->data());
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::memcpy(operands[i], inputs[i].bytes(),
                static_cast<size_t>(inputs[i].size_bytes()));
  }
  if (split) {
    kernel.RunEach(operands, plan.tasks, NativeKernel::Order::kBackwards);
  } else {
    kernel.Run(operands, 0, plan.tasks);
  }
  const auto expected = InterpretStep(program, step, inputs);
  for (size_t i = 0; i < expected.size(); ++i) {
    const auto* got = static_cast<float*>(operands[inputs.size() + i]);
    for (int64_t at = 0; at < expected[i].shape().elements(); ++at) {
      if (got[at] == expected[i].At(at)) continue;
      return fmt::format("output {} element {} is {}, expected {}", i, at,
                         got[at], expected[i].At(at));
    }
  }
  return "";
}

}  // namespace

TEST_CASE("rows that slots name change, over what they keep or beside it") {
  for (const Target& target : RunnableTargets()) {
    for (const Extents& inner :
         {Extents{}, Extents{1}, Extents{5}, Extents{16}, Extents{3, 37}}) {
      for (const bool in_place : {true, false}) {
        const Program program = MomentumOfRows(kSlots, inner, in_place);
        const auto broken = Verify(program);
        REQUIRE_MESSAGE(!broken, *broken);
        CAPTURE(inner.size());
        CAPTURE(in_place);
        CHECK(Differs(program, target, true) == "");
        CHECK(Differs(program, target, false) == "");
      }
    }
  }
}

// Every state's row, its lines.
TEST_CASE("rows that slots name are fetched before they change") {
  const auto fetches = [](const char* name, const Extents& inner) {
    const Target target = *ResolveTarget(name);
    const Program program = MomentumOfRows(kSlots, inner, true);
    const FunctionPlan plan =
        PlanRows(program, program.steps[0], target, kTaskRanges);
    const NativeKernel kernel(target, 6, plan.emit, /*keep_assembly=*/true);
    size_t count = 0;
    const std::string& text = kernel.assembly();
    for (size_t at = 0; (at = text.find("prefetch", at)) != std::string::npos;
         ++at) {
      ++count;
    }
    return count;
  };
  CHECK(fetches("x86-64-v3", {16}) == 2);  // a line of both states
  CHECK(fetches("x86-64-v4", {32}) == 4);
  CHECK(fetches("x86-64-v3", {5}) == 4);      // may lie in two
  CHECK(fetches("x86-64-v3", {3, 37}) == 8);  // the first lines
}

TEST_CASE("only slots cost time") {
  const Target target = RunnableTargets().back();
  const Program program = MomentumOfRows(kSlots, {3000}, true);
  const FunctionPlan plan =
      PlanRows(program, program.steps[0], target, kTaskRanges);
  CHECK(plan.tasks > 1);
  CHECK(plan.tasks <= kSlots);
  const Program beside = MomentumOfRows(kSlots, {3000}, false);
  CHECK(PlanRows(beside, beside.steps[0], target, kTaskRanges).tasks == 1);
}

}  // namespace mxc::test
