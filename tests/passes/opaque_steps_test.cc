// SPDX-License-Identifier: Apache-2.0
// A kind of step that no pass knows goes through all of them untouched: none
// fuses it, shares its bytes, changes its layouts, moves steps over it, runs it
// twice or leaves it out. So does a repeat or a branch that holds one.
#include <doctest/doctest.h>

#include <algorithm>

#include "ir/program/add_buffer.h"
#include "ir/program/steps/branch.h"
#include "ir/program/steps/call.h"
#include "ir/program/steps/map.h"
#include "ir/program/steps/repeat.h"
#include "passes/passes.h"
#include "passes/sharing.h"
#include "passes/state_order.h"
#include "passes/step_operands.h"
#include "tests/passes/blocked_catalog.h"
#include "tests/passes/detours.h"

namespace mxc {
namespace {

// Copies its input. It says only what every kind must say.
struct Mark {
  int number = 0;

  std::string Print() const { return fmt::format("    mark {}\n", number); }
  std::optional<std::string> Verify(const Program& program,
                                    const Step& step) const {
    if (step.inputs.size() != 1 || step.outputs.size() != 1) return "operands";
    const Buffer& in = program.buffers[step.inputs[0]];
    const Buffer& out = program.buffers[step.outputs[0]];
    if (in.type != out.type) return "types";
    return std::nullopt;
  }
  void Interpret(StepValues& values) const {
    values.outputs[0] = *values.inputs[0];
  }
  std::string Key(const Program&, const Step&, const ExprText&) const {
    return "|mark";
  }
  double Flops(const Program&, const Step&) const { return 0; }
};

// A program inside of a step: its last input becomes its output by `body`.
std::shared_ptr<const Program> Inside(const std::vector<TensorType>& inputs,
                                      StepBody body) {
  Program inside;
  for (const TensorType& type : inputs) {
    AddBuffer(inside, "in", type, BufferKind::kInput);
  }
  const int last = static_cast<int>(inputs.size()) - 1;
  Step& step = inside.steps.emplace_back();
  step.name = "inner";
  step.inputs = {last};
  step.outputs = {AddBuffer(inside, "out", inputs.back(), BufferKind::kOutput)};
  step.body = std::move(body);
  inside.places[kKernelPlace].arena_bytes = 0;
  return std::make_shared<const Program>(std::move(inside));
}

constexpr int64_t kRoomBytes = 64;

// y = body(x) once, in a repeat of one turn.
Step InRepeat(Program& program, int x, int y, StepBody body) {
  Repeat repeat;
  repeat.sliced = {false, false};
  repeat.body = Inside({program.buffers[x].type}, std::move(body));
  Step step;
  step.inputs = {x};
  step.outputs = {y, AddBuffer(program, "room", {DType::kU8, {kRoomBytes}})};
  step.body = std::move(repeat);
  return step;
}

// The same on either side of a branch.
Step InBranch(Program& program, int x, int y, const StepBody& body) {
  const TensorType element = {DType::kF32, {1}};
  const int condition =
      AddBuffer(program, "condition", element, BufferKind::kConstant);
  program.buffers[condition].constant = Tensor::Filled(element, 1);
  const std::vector<TensorType> inputs = {element, program.buffers[x].type};
  Step step;
  step.inputs = {condition, x};
  step.outputs = {y, AddBuffer(program, "room", {DType::kU8, {kRoomBytes}})};
  step.body = Branch{Inside(inputs, body), Inside(inputs, body)};
  return step;
}

Step Alone(int x, int y, StepBody body) {
  Step step;
  step.inputs = {x};
  step.outputs = {y};
  step.body = std::move(body);
  return step;
}

// Behind some of the steps, a mark that their readers read in their place: by
// itself or held by another step.
int AddMarks(Program& program, RandomNetwork& random) {
  int marks = 0;
  return AddDetours(program, random, [&](int output, std::vector<Step>& steps) {
    const std::string name = "mark" + std::to_string(marks);
    const int marked = AddBuffer(program, name, program.buffers[output].type);
    const Mark mark{marks++};
    steps.push_back(
        mark.number % 3 == 0   ? InRepeat(program, output, marked, mark)
        : mark.number % 3 == 1 ? InBranch(program, output, marked, mark)
                               : Alone(output, marked, mark));
    steps.back().name = name;
    return marked;
  });
}

// The mark that a step is or holds; null: none.
const Mark* MarkOf(const Step& step) {
  if (const Repeat* repeat = step.body.As<Repeat>()) {
    return MarkOf(repeat->body->steps[0]);
  }
  if (const Branch* branch = step.body.As<Branch>()) {
    return MarkOf(branch->then->steps[0]);
  }
  return step.body.As<Mark>();
}

// The marks' numbers in the order in which they run.
std::vector<int> MarksOf(const Program& program) {
  std::vector<int> numbers;
  for (const Step& step : program.steps) {
    const Mark* mark = MarkOf(step);
    if (mark == nullptr) continue;
    numbers.push_back(mark->number);
    for (const int b : step.operands()) {
      CHECK(program.buffers[b].layout.row_major());
    }
    CHECK(program.Root(step.inputs.back()) != program.Root(step.outputs[0]));
  }
  return numbers;
}

TEST_CASE("steps of an unknown kind go through all passes untouched") {
  const BlockedCatalog catalog;
  Target target = *ResolveTarget("x86-64-v3");
  // So that steps pass by tiles.
  target.machine.l2.bytes = target.machine.l3.bytes = 1 << 10;
  PassContext context{&target, &catalog};
  int marks = 0, loops = 0;
  ForLoweredNetworks(context, [&](Program& program, RandomNetwork& random) {
    const int added = AddMarks(program, random);
    RunEveryPass(program, context, [&] {
      const std::vector<int> numbers = MarksOf(program);
      CHECK(static_cast<int>(numbers.size()) == added);
      CHECK(std::ranges::is_sorted(numbers));
    });
    marks += added;
    loops += static_cast<int>(std::ranges::count_if(
        program.steps, [](const Step& s) { return s.loop() != nullptr; }));
  });
  CHECK(marks > 40);
  CHECK(loops > 0);
}

// c = mark(b), between steps that do not depend on it.
Program AroundAMark() {
  Program program;
  const TensorType type{DType::kF32, Shape{4}};
  const int a = AddBuffer(program, "a", type, BufferKind::kInput);
  const int b = AddBuffer(program, "b", type);
  const int c = AddBuffer(program, "c", type, BufferKind::kOutput);
  const int d = AddBuffer(program, "d", type, BufferKind::kOutput);
  const auto add = [&](std::string name, int from, int to, StepBody body) {
    Step step;
    step.name = std::move(name);
    step.inputs = {from};
    step.outputs = {to};
    step.body = std::move(body);
    program.steps.push_back(std::move(step));
  };
  const Expr x = Load(0, DType::kF32, {Var(0)});
  add("exp", a, b, Map{{{0, {0}, {4}, Exp(x)}}});
  add("mark", b, c, Mark());
  add("log", a, d, Map{{{0, {0}, {4}, Log(x)}}});
  return program;
}

TEST_CASE("what passes ask of an unknown kind has the answer that forbids") {
  const Program program = AroundAMark();
  const Step& mark = program.steps[1];
  CHECK(!mark.body.pure());
  CHECK(!mark.body.any_layout());
  CHECK(FixedOperands(mark) == 1);
  CHECK(SharePairs(program, mark).empty());
  CHECK(!MayWriteOver(program, mark, mark.inputs[0]));
  Step tidied = mark;
  CHECK(!TidyOperands(tidied));
  CHECK(tidied.inputs == mark.inputs);
}

TEST_CASE("steps before and after an unknown kind stay there") {
  const auto before = StepsBefore(AroundAMark());
  CHECK(before[0].empty());
  CHECK(before[1] == std::vector<int>{0});
  CHECK(before[2] == std::vector<int>{1});
}

TEST_CASE("what holds steps is as pure as they are, and fails as they do") {
  Program program;
  const TensorType type{DType::kF32, Shape{4}};
  const int x = AddBuffer(program, "x", type, BufferKind::kInput);
  const int y = AddBuffer(program, "y", type);
  const Map copy{{{0, {0}, {4}, Load(0, DType::kF32, {Var(0)})}}};
  const auto hold = [&](const StepBody& body) {
    const Step repeat = InRepeat(program, x, y, body);
    const Step branch = InBranch(program, x, y, body);
    return std::vector<Step>{repeat, branch,
                             InRepeat(program, x, y, repeat.body)};
  };
  for (const Step& step : hold(copy)) {
    CHECK(step.body.pure());
    CHECK_FALSE(step.body.may_fail());
  }
  for (const Step& step : hold(Mark())) CHECK_FALSE(step.body.pure());
  for (const Step& step : hold(Call())) {
    CHECK(step.body.pure());
    CHECK(step.body.may_fail());
  }
}

TEST_CASE("a repeat that holds an unknown kind stays though nobody reads it") {
  const TensorType type{DType::kF32, Shape{4}};
  const Map copy{{{0, {0}, {4}, Load(0, DType::kF32, {Var(0)})}}};
  for (const bool pure : {false, true}) {
    Program program;
    const int x = AddBuffer(program, "x", type, BufferKind::kInput);
    const int y = AddBuffer(program, "y", type);
    program.steps.push_back(
        InRepeat(program, x, y, pure ? StepBody(copy) : StepBody(Mark())));
    PassContext context;
    REQUIRE(RemoveDeadSteps(program, context).ok());
    CHECK(program.steps.empty() == pure);
  }
}

TEST_CASE("a step of an unknown kind stays though nobody reads it") {
  Program program = AroundAMark();
  program.buffers[2].kind = BufferKind::kInternal;
  PassContext context;
  REQUIRE(RemoveDeadSteps(program, context).ok());
  CHECK(program.steps.size() == 3);
  // A pure one goes.
  program.steps[1].body = Map{{{0, {0}, {4}, Load(0, DType::kF32, {Var(0)})}}};
  REQUIRE(RemoveDeadSteps(program, context).ok());
  CHECK(program.steps.size() == 1);
}

}  // namespace
}  // namespace mxc
