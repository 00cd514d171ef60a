// SPDX-License-Identifier: Apache-2.0
// A kind of step that no pass knows, but which says that it may run beside
// others, does: it starts early, is waited for late, and keeps its order with
// its like, whatever operands it has.
#include <doctest/doctest.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "ir/program/add_buffer.h"
#include "ir/program/steps/map.h"
#include "ir/program/steps/start.h"
#include "ir/program/steps/wait.h"
#include "passes/passes.h"
#include "tests/passes/blocked_catalog.h"
#include "tests/passes/detours.h"

namespace mxc {
namespace {

// Sums each input over all workers, of which there is one.
struct AllReduce {
  int number = 0;

  static constexpr bool kBeside = true;
  std::string Print() const { return fmt::format("    sum {}\n", number); }
  std::optional<std::string> Verify(const Program& program,
                                    const Step& step) const {
    if (step.inputs.size() != step.outputs.size()) return "operands";
    for (size_t i = 0; i < step.inputs.size(); ++i) {
      const Buffer& in = program.buffers[step.inputs[i]];
      if (in.type != program.buffers[step.outputs[i]].type) return "types";
    }
    return std::nullopt;
  }
  void Interpret(StepValues& values) const {
    for (size_t i = 0; i < values.outputs.size(); ++i) {
      values.outputs[i] = *values.inputs[i];
    }
  }
  std::string Key(const Program&, const Step&, const ExprText&) const {
    return "|sum";
  }
  double Flops(const Program&, const Step&) const { return 0; }
};

// Is neither pure nor may it run beside others.
struct Fence : AllReduce {
  static constexpr bool kBeside = false;
};

const AllReduce* AllReduceOf(const Step& step) {
  const Start* start = step.body.As<Start>();
  return (start != nullptr ? start->body : step.body).As<AllReduce>();
}

// Behind some of the steps, a sum that their readers read in their place.
int AddSums(Program& program, RandomNetwork& random) {
  int sums = 0;
  return AddDetours(program, random, [&](int output, std::vector<Step>& steps) {
    Step& sum = steps.emplace_back();
    sum.name = "sum" + std::to_string(sums);
    sum.inputs = {output};
    sum.outputs = {AddBuffer(program, sum.name, program.buffers[output].type)};
    sum.body = AllReduce{sums++};
    return sum.outputs[0];
  });
}

// The sums' numbers in the order in which they begin.
std::vector<int> NumbersOf(const Program& program) {
  std::vector<int> numbers;
  for (const Step& step : program.steps) {
    if (const AllReduce* sum = AllReduceOf(step)) {
      numbers.push_back(sum->number);
    }
  }
  return numbers;
}

TEST_CASE("a kind that may run beside others does, and keeps its order") {
  const BlockedCatalog catalog;
  const Target target = *ResolveTarget("x86-64-v3");
  PassContext context{&target, &catalog};
  int sums = 0, starts = 0;
  ForLoweredNetworks(context, [&](Program& program, RandomNetwork& random) {
    const int added = AddSums(program, random);
    RunEveryPass(program, context, [&] {
      const std::vector<int> numbers = NumbersOf(program);
      CHECK(static_cast<int>(numbers.size()) == added);
      CHECK(std::ranges::is_sorted(numbers));
    });
    sums += added;
    starts += static_cast<int>(std::ranges::count_if(
        program.steps,
        [](const Step& step) { return step.body.As<Start>() != nullptr; }));
  });
  CHECK(sums > 40);
  CHECK(starts > 10);
}

// Gradients that are summed, each of the value of before.
class Backward {
 public:
  Backward() { value_ = Add("x", BufferKind::kInput); }

  int value() const { return value_; }
  int Kernel(const std::string& name, std::vector<int> inputs,
             BufferKind kind = BufferKind::kInternal) {
    Expr value = Constant(1, DType::kF32);
    for (size_t i = 0; i < inputs.size(); ++i) {
      value = value + Load(static_cast<int>(i), DType::kF32, {Var(0)});
    }
    const int output = Add(name, kind);
    AddStep(name, std::move(inputs), {output}, Map{{{0, {0}, {4}, value}}});
    return output;
  }
  std::vector<int> Sum(const std::string& name, std::vector<int> inputs,
                       StepBody body = AllReduce()) {
    std::vector<int> outputs;
    for (const int b : inputs) {
      outputs.push_back(Add(program_.buffers[b].name + "/" + name));
    }
    AddStep(name, std::move(inputs), outputs, std::move(body));
    return outputs;
  }
  Program Take() { return std::move(program_); }

 private:
  int Add(const std::string& name, BufferKind kind = BufferKind::kInternal) {
    return AddBuffer(program_, name, {DType::kF32, Shape{4}}, kind);
  }
  void AddStep(const std::string& name, std::vector<int> inputs,
               std::vector<int> outputs, StepBody body) {
    Step step;
    step.name = name;
    step.inputs = std::move(inputs);
    step.outputs = std::move(outputs);
    step.body = std::move(body);
    program_.steps.push_back(std::move(step));
  }

  Program program_;
  int value_ = 0;
};

std::string NamesOf(const Program& program) {
  std::vector<std::string> names;
  for (const Step& step : program.steps) names.push_back(step.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

TEST_CASE("gradients are summed while those of earlier layers are computed") {
  Backward net;
  // As lower leaves them: each sum before its update.
  const int g2 = net.Kernel("g2", {net.value()}), h2 = net.Kernel("h2", {g2});
  const std::vector<int> s2 = net.Sum("sum2", {g2, h2});
  net.Kernel("w2", {s2[0], s2[1]}, BufferKind::kOutput);
  const int g1 = net.Kernel("g1", {h2});
  const std::vector<int> s1 = net.Sum("sum1", {g1});
  net.Kernel("w1", {s1[0]}, BufferKind::kOutput);
  const int g0 = net.Kernel("g0", {g1});
  net.Kernel("w0", {g0}, BufferKind::kOutput);
  Program program = net.Take();
  PassContext context;
  REQUIRE(*ScheduleSteps(program, context));
  CHECK(!Verify(program));
  // sum2 moves twice the bytes of g1, so that g0 is there before its sums are.
  CHECK(NamesOf(program) == "g2, h2, sum2, g1, sum1, g0, w2, w1, w0");
  REQUIRE(*OverlapSteps(program, context));
  CHECK(!Verify(program));
  CHECK(NamesOf(program) ==
        "g2, h2, sum2/start, g1, sum1/start, g0, sum2/wait, w2, sum1/wait, w1, "
        "w0");
}

TEST_CASE("nothing runs beside a step that is neither pure nor may run so") {
  Backward net;
  const int a = net.Kernel("a", {net.value()});
  const int b = net.Kernel("b", {net.value()});
  const std::vector<int> fenced = net.Sum("fence", {a}, Fence());
  const std::vector<int> sum = net.Sum("sum", {b});
  const int c = net.Kernel("c", {fenced[0]});
  const std::vector<int> second = net.Sum("second fence", {c}, Fence());
  net.Kernel("y", {sum[0], second[0]}, BufferKind::kOutput);
  Program program = net.Take();
  PassContext context;
  REQUIRE(*OverlapSteps(program, context));
  CHECK(NamesOf(program) ==
        "a, b, fence, sum/start, c, sum/wait, second fence, y");
}

TEST_CASE("what nobody reads is waited for at the end") {
  Backward net;
  net.Sum("push", {net.value()});
  net.Kernel("y", {net.value()}, BufferKind::kOutput);
  Program program = net.Take();
  PassContext context;
  REQUIRE(*OverlapSteps(program, context));
  CHECK(!Verify(program));
  CHECK(NamesOf(program) == "push/start, y, push/wait");
}

}  // namespace
}  // namespace mxc
