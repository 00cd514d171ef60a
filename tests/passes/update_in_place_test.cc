// SPDX-License-Identifier: Apache-2.0
// States: planned programs with updates in place, run twice in one arena,
// against the same graph run by the interpreter without any plan.
#include <doctest/doctest.h>

#include <algorithm>

#include "ir/program/interpreter.h"
#include "passes/pass.h"
#include "passes/passes.h"
#include "tests/passes/arena_machine.h"

namespace mxc {
namespace {

Graph ParseText(const std::string& text) {
  auto file = std::make_shared<SourceFile>();

  file->text = text;
  auto graph = ParseGraph(file);
  REQUIRE(graph.ok());
  REQUIRE(!Verify(*graph));
  return std::move(*graph);
}

Program Plan(const std::string& text) {
  const auto target = ResolveTarget("x86-64-v3");
  REQUIRE(target.ok());
  auto program = RunPipeline(ParseText(text), {&*target, nullptr}, {});
  REQUIRE(program.ok());
  return std::move(*program);
}

using States = std::map<std::string, Tensor>;

// The states after `runs` runs, without passes.
States Expected(const std::string& text, int runs) {
  PassContext context;
  const auto program = Lower(ParseText(text), context);
  REQUIRE(program.ok());
  States states;
  for (int run = 0; run < runs; ++run) {
    States next = states;
    InterpreterOptions options;
    options.next_states = &next;
    REQUIRE(Interpret(*program, states, options).ok());
    states = next;
  }
  return states;
}

void CheckStates(const std::string& text) {
  const Program program = Plan(text);
  ArenaMachine machine(program, {});
  for (int run = 1; run <= 3; ++run) {
    machine.Run();
    for (const auto& [name, want] : Expected(text, run)) {
      const Tensor got = machine.State(name);
      for (int64_t i = 0; i < want.shape().elements(); ++i) {
        CHECK(got.At(i) == want.At(i));
      }
    }
  }
}

int Asides(const Program& program) {
  int found = 0;
  for (const Buffer& buffer : program.buffers) {
    found += buffer.name.ends_with("/aside") ? 1 : 0;
  }
  return found;
}

// A state starts as zeros; the first operator makes it differ by element.
const char* const kMomentum = R"text(
graph @net stateful {
  %0 "w" = parameter f32[2, 3]
  %1 "m" = state f32[2, 3]
  %2 "g" = constant f32[2, 3] = 1 2 3 4 5 6
  %3 "half" = _mul_scalar(%1) {scalar = "0.5"} : f32[2, 3]
  %4 "m1" = elemwise_add(%3, %2) : f32[2, 3]
  %5 "decay" = elemwise_add(%4, %0) : f32[2, 3]
  %6 "w1" = elemwise_sub(%0, %5) : f32[2, 3]
  return
  update %1 = %4
  update %0 = %6
})text";

const char* const kSwap = R"text(
graph @net stateful {
  %0 "a" = state f32[3]
  %1 "b" = state f32[3]
  %2 "c" = constant f32[3] = 1 2 3
  %3 "a1" = elemwise_add(%1, %2) : f32[3]
  %4 "b1" = _mul_scalar(%0) {scalar = "2"} : f32[3]
  return
  update %0 = %3
  update %1 = %4
})text";

const char* const kReverse = R"text(
graph @net stateful {
  %0 "a" = state f32[4]
  %1 "c" = constant f32[4] = 1 2 3 4
  %2 "r" = reverse(%0) {axis = "(0,)"} : f32[4]
  %3 "a1" = elemwise_add(%2, %1) : f32[4]
  return
  update %0 = %3
})text";

TEST_CASE("next values are written over their states") {
  CheckStates(kMomentum);
  CHECK(Asides(Plan(kMomentum)) == 0);
}

TEST_CASE("two states that exchange their values need a third place") {
  CheckStates(kSwap);
  CHECK(Asides(Plan(kSwap)) == 1);
}

TEST_CASE("a state that is read at other indices is written aside") {
  CheckStates(kReverse);
  CHECK(Asides(Plan(kReverse)) == 1);
}

TEST_CASE("a stale read does not verify") {
  Program program = Plan(kReverse);
  std::ranges::reverse(program.steps);
  CHECK(Verify(program));
}

TEST_CASE("updates print and parse back") {
  const Graph graph = ParseText(kMomentum);
  CHECK(Print(ParseText(Print(graph))) == Print(graph));
  const Program program = Plan(kMomentum);
  auto file = std::make_shared<SourceFile>();
  file->text = Print(program);
  const auto again = ParseProgram(file);
  REQUIRE(again.ok());
  CHECK(Print(*again) == Print(program));
}

}  // namespace
}  // namespace mxc
