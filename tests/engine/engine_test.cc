// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/engine.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/sanitizers.h"

namespace mxc::test {
namespace {

using runtime::Access;
using runtime::Completion;
using runtime::Engine;
using runtime::EngineOptions;
using runtime::LaneKind;
using runtime::Operation;
using runtime::Status;
using runtime::StatusCode;
using runtime::Use;
using runtime::Values;
using runtime::Variable;

EngineOptions Threads(int compute) {
  EngineOptions options;
  options.threads[0] = compute;
  return options;
}

EngineOptions Naive() {
  EngineOptions options;
  options.is_naive = true;
  return options;
}

Status Broken() { return {StatusCode::kFailed, "broken"}; }

// A chain of values, each of them a number that its operations mix: another
// order of two that conflict gives another number.
struct Cells {
  explicit Cells(size_t count) : variables(count), values(count, 1) {}
  std::vector<Variable> variables;
  std::vector<uint64_t> values;
};

uint64_t Mix(uint64_t a, uint64_t b) {
  return (a ^ (b + 0x9e3779b97f4a7c15)) * 0xbf58476d1ce4e5b9 + (a >> 29);
}

struct Drawn {
  size_t from, other, to;
  bool overwrites;
};

std::vector<Drawn> DrawProgram(size_t length, size_t cells, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<Drawn> program(length);
  for (Drawn& one : program) {
    one = {random() % cells, random() % cells, random() % cells,
           random() % 2 == 0};
  }
  return program;
}

void RunOne(const Drawn& one, Cells& cells, uint64_t number) {
  const uint64_t value = Mix(cells.values[one.from], cells.values[one.other]);
  uint64_t& to = cells.values[one.to];
  to = Mix(one.overwrites ? number : to, value);
}

std::vector<Use> UsesOf(const Drawn& one, Cells& cells) {
  return {{&cells.variables[one.from], Access::kRead},
          {&cells.variables[one.other], Access::kRead},
          {&cells.variables[one.to],
           one.overwrites ? Access::kWrite : Access::kUpdate}};
}

std::vector<uint64_t> InOrder(const std::vector<Drawn>& program, size_t count) {
  Cells cells(count);
  for (size_t i = 0; i < program.size(); ++i) RunOne(program[i], cells, i);
  return cells.values;
}

std::vector<uint64_t> ByEngine(Engine& engine,
                               const std::vector<Drawn>& program,
                               size_t count) {
  Cells cells(count);
  for (size_t i = 0; i < program.size(); ++i) {
    const Drawn& one = program[i];
    const auto run = [&cells, one, i] {
      RunOne(one, cells, i);
      return Status();
    };
    std::vector<Use> uses = UsesOf(one, cells);
    // Some in the caller, where that can be.
    if (i % 3 == 0 && engine.TryRun("mix", run, uses)) continue;
    engine.Push({.name = "mix",
                 .run = run,
                 .lane = static_cast<LaneKind>(i % 2),
                 .priority = static_cast<int>(i % 5)},
                UsesOf(one, cells));
  }
  CHECK(engine.WaitForAll().ok());
  return cells.values;
}

TEST_CASE(
    "drawn operations on several threads leave what they leave in order") {
  const size_t cells = 12;
  for (uint32_t seed = 1; seed <= 4; ++seed) {
    const auto program = DrawProgram(20'000, cells, seed);
    const auto expected = InOrder(program, cells);
    Engine engine(Threads(static_cast<int>(seed)));
    CHECK(ByEngine(engine, program, cells) == expected);
    Engine naive(Naive());
    CHECK(ByEngine(naive, program, cells) == expected);
  }
}

// Nobody knows how far who pushes is ahead: it waits now and then.
TEST_CASE("a million drawn operations on four threads leave the same") {
#ifdef MXC_THREAD_SANITIZER
  constexpr size_t kParts = 2;
#else
  constexpr size_t kParts = 20;
#endif
  constexpr size_t kCells = 40, kEach = 50'000;
  Engine engine(Threads(4));
  for (uint32_t part = 0; part < kParts; ++part) {
    const auto program = DrawProgram(kEach, kCells, 100 + part);
    REQUIRE(ByEngine(engine, program, kCells) == InOrder(program, kCells));
  }
}

TEST_CASE("what several threads push is in the order of each of them") {
  Engine engine(Threads(3));
  std::array<Variable, 4> own;
  std::array<int, 4> counts = {};
  std::atomic<bool> wrong = false;
  std::vector<std::thread> threads;
  for (size_t t = 0; t < own.size(); ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 2000; ++i) {
        engine.Push({.name = "count",
                     .run =
                         [&, t, i] {
                           if (counts[t]++ != i) wrong = true;
                           return Status();
                         }},
                    {{&own[t], Access::kUpdate}});
        if (i % 100 == 0) CHECK(engine.Wait(own[t]).ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(engine.WaitForAll().ok());
  CHECK_FALSE(wrong);
  for (const int count : counts) CHECK(count == 2000);
}

TEST_CASE("operations that only read run together") {
  Engine engine(Threads(2));
  Variable value;
  std::promise<void> first, second;
  auto first_came = first.get_future(), second_came = second.get_future();
  // Each waits for the other.
  engine.Push({.name = "first",
               .run =
                   [&] {
                     first.set_value();
                     second_came.wait();
                     return Status();
                   }},
              {{&value, Access::kRead}});
  engine.Push({.name = "second",
               .run =
                   [&] {
                     second.set_value();
                     first_came.wait();
                     return Status();
                   }},
              {{&value, Access::kRead}});
  CHECK(engine.WaitToWrite(value).ok());
}

TEST_CASE("of those that may run the most urgent one runs first") {
  Engine engine;
  Variable gate;
  std::promise<void> open;
  auto opened = open.get_future();
  engine.Push({.name = "gate",
               .run =
                   [&] {
                     opened.wait();
                     return Status();
                   }},
              {{&gate, Access::kWrite}});
  std::string order;
  for (const auto& [letter, priority] :
       {std::pair{'d', -1}, {'b', 1}, {'c', 0}, {'a', 7}}) {
    engine.Push({.name = "letter",
                 .run =
                     [&order, letter = letter] {
                       order += letter;
                       return Status();
                     },
                 .priority = priority},
                {{&gate, Access::kRead}});
  }
  open.set_value();
  CHECK(engine.WaitForAll().ok());
  CHECK(order == "abcd");
}

TEST_CASE("a failure is told where the value is asked for, and only there") {
  for (const EngineOptions& options : {Threads(2), Naive()}) {
    Engine engine(options);
    Variable a, b, c;
    int ran = 0;
    const auto count = [&] {
      ++ran;
      return Status();
    };
    engine.Push({.name = "a", .run = Broken}, {{&a, Access::kWrite}});
    engine.Push({.name = "b", .run = count},
                {{&a, Access::kRead}, {&b, Access::kWrite}});
    engine.Push({.name = "c", .run = count}, {{&c, Access::kWrite}});
    CHECK(engine.Wait(c).ok());
    const Status status = engine.Wait(b);
    CHECK(status.code() == StatusCode::kFailed);
    CHECK(status.message() == "broken");
    CHECK(engine.Wait(b).message() == "broken");  // as long as it is so
    CHECK(engine.WaitForAll().ok());              // it was told
    CHECK(ran == 1);
    std::array<Use, 2> uses = {Use{&b, Access::kRead}, {&c, Access::kUpdate}};
    CHECK(engine.TryRun("c from b", count, uses));
    CHECK(engine.Wait(c).message() == "broken");
    engine.Push({.name = "b", .run = count}, {{&b, Access::kWrite}});
    CHECK(engine.Wait(b).ok());
    CHECK(ran == 2);
  }
}

TEST_CASE("one that stands for several says what becomes of each value") {
  for (const EngineOptions& options : {Threads(2), Naive()}) {
    Engine engine(options);
    Variable a, b, from_a, from_b;
    engine.Push({.name = "a", .run = Broken}, {{&a, Access::kWrite}});
    engine.Push({.name = "two",
                 .parts =
                     [&](Values& values) {
                       CHECK(values.HaveFailed());
                       values.Set(from_a, values.Of(a));
                       values.Set(from_b,
                                  values.New({StatusCode::kFailed, "its own"}));
                     }},
                {{&a, Access::kRead},
                 {&b, Access::kRead},
                 {&from_a, Access::kWrite},
                 {&from_b, Access::kUpdate}});
    CHECK(engine.Wait(b).ok());
    CHECK(engine.Wait(from_a).message() == "broken");
    CHECK(engine.WaitForAll().message() == "its own");  // nobody was told
    CHECK(engine.Wait(from_b).message() == "its own");
    engine.Push({.name = "throws",
                 .parts = [](Values&) { throw std::runtime_error("thrown"); }},
                {{&b, Access::kUpdate}});
    CHECK(engine.Wait(b).message() == "throws: thrown");
  }
}

TEST_CASE("a failure that nobody asks for comes in the end") {
  Engine engine;
  for (int i = 0; i < 100; ++i) {
    auto value = std::make_shared<Variable>();
    engine.Push({.name = "tenth",
                 .run = [value, i]() -> Status {
                   if (i == 10) throw std::runtime_error("no tenth");
                   return {};
                 }},
                {{value.get(), Access::kWrite}});
  }
  CHECK(engine.WaitForAll().message() == "tenth: no tenth");
  CHECK(engine.WaitForAll().ok());
}

TEST_CASE("an exception in the tenth of a hundred reaches what depends on it") {
  for (const EngineOptions& options : {Threads(4), Naive()}) {
    Engine engine(options);
    Variable value;
    std::array<Variable, 100> beside;
    std::atomic<int> in_order = 0, alone = 0;
    for (int i = 0; i < 100; ++i) {
      engine.Push({.name = "in order",
                   .run = [&, i]() -> Status {
                     if (i == 9) throw std::runtime_error("no tenth");
                     ++in_order;
                     return {};
                   }},
                  {{&value, Access::kUpdate}});
      engine.Push({.name = "alone",
                   .run =
                       [&] {
                         ++alone;
                         return Status();
                       }},
                  {{&beside[static_cast<size_t>(i)], Access::kWrite}});
    }
    for (Variable& each : beside) CHECK(engine.Wait(each).ok());
    CHECK(alone == 100);
    CHECK(engine.Wait(value).message() == "in order: no tenth");
    CHECK(in_order == 9);
    CHECK(engine.WaitForAll().ok());  // it was told
  }
}

TEST_CASE("an operation that goes on elsewhere ends when it says so") {
  Engine engine;
  Variable value;
  std::promise<Completion> handed_over;
  auto completion = handed_over.get_future();
  int number = 0;
  engine.Push(
      {.name = "pull",
       .begin =
           [&](Completion done) { handed_over.set_value(std::move(done)); },
       .lane = LaneKind::kExchange},
      {{&value, Access::kWrite}});
  std::thread elsewhere([&] {
    Completion done = completion.get();
    number = 7;
    done.Done({});
  });
  CHECK(engine.Wait(value).ok());
  CHECK(number == 7);
  elsewhere.join();
  engine.Push({.name = "pull", .begin = [](Completion) {}},
              {{&value, Access::kWrite}});
  CHECK(engine.Wait(value).message() == "pull never said that it had ended");
}

TEST_CASE("an operation waits on the lane of callbacks alone") {
  Engine engine;
  Variable slow, value;
  std::promise<void> open;
  auto opened = open.get_future();
  engine.Push({.name = "slow",
               .run =
                   [&] {
                     opened.wait();
                     return Status();
                   },
               .lane = LaneKind::kCopies},
              {{&slow, Access::kWrite}});
  engine.Push({.name = "impatient", .run = [&] { return engine.Wait(slow); }},
              {{&value, Access::kWrite}});
  const Status status = engine.Wait(value);
  CHECK(status.code() == StatusCode::kBusy);
  CHECK(status.message() == "impatient waits for another operation");
  engine.Push({.name = "callback",
               .run = [&] { return engine.Wait(slow); },
               .lane = LaneKind::kCallbacks},
              {{&value, Access::kWrite}});
  engine.Push({.name = "all", .run = [&] { return engine.WaitForAll(); }}, {});
  open.set_value();
  CHECK(engine.Wait(value).ok());
  CHECK(engine.WaitForAll().code() == StatusCode::kBusy);  // what "all" got
}

TEST_CASE("operations push others, also on what they use themselves") {
  for (const EngineOptions& options : {Threads(1), Naive()}) {
    Engine engine(options);
    Variable value;
    int number = 0;
    engine.Push({.name = "outer",
                 .run =
                     [&] {
                       engine.Push({.name = "inner",
                                    .run =
                                        [&] {
                                          number = number * 10 + 2;
                                          return Status();
                                        }},
                                   {{&value, Access::kUpdate}});
                       number = 1;
                       return Status();
                     }},
                {{&value, Access::kUpdate}});
    CHECK(engine.WaitForAll().ok());
    CHECK(number == 12);
  }
}

// ThreadSanitizer follows no threads of a child.
#ifndef MXC_THREAD_SANITIZER
TEST_CASE("a forked child goes on with what was there") {
  Engine engine(Threads(2));
  Variable value;
  int number = 0;
  const auto add = [&] {
    ++number;
    return Status();
  };
  for (int i = 0; i < 500; ++i) {
    engine.Push({.name = "add", .run = add}, {{&value, Access::kUpdate}});
  }
  const pid_t child = fork();
  if (child == 0) {
    engine.Push({.name = "add", .run = add}, {{&value, Access::kUpdate}});
    const bool good = engine.Wait(value).ok() && number == 501;
    _exit(good ? 0 : 1);
  }
  engine.Push({.name = "add", .run = add}, {{&value, Access::kUpdate}});
  CHECK(engine.Wait(value).ok());
  CHECK(number == 501);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

#endif

TEST_CASE("an engine ends when all that was pushed is done") {
  for (int i = 0; i < 1000; ++i) {
    std::atomic<int> ran = 0;
    Variable value;
    {
      Engine engine(Threads(2));
      for (int j = 0; j < 20; ++j) {
        engine.Push({.name = "run",
                     .run =
                         [&] {
                           ++ran;
                           return Status();
                         }},
                    {{&value, j % 3 == 0 ? Access::kWrite : Access::kRead}});
      }
    }
    CHECK(ran == 20);
  }
}

}  // namespace
}  // namespace mxc::test
