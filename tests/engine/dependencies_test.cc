// SPDX-License-Identifier: Apache-2.0
// The order of operations, walked through completely: for drawn programs every
// order in which operations can end, and in each state the set of those that
// may run, which is known from the definition alone.
#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include "runtime/engine/dependencies.h"

namespace mxc::test {
namespace {

using runtime::Access;
using runtime::Dependencies;
using runtime::Failure;
using runtime::Pending;
using runtime::Status;
using runtime::StatusCode;
using runtime::Use;
using runtime::Variable;

// What an operation is said to use: by the numbers of variables.
struct SaidUse {
  size_t variable;
  Access access;
};
using Program = std::vector<std::vector<SaidUse>>;

bool Conflict(const std::vector<SaidUse>& a, const std::vector<SaidUse>& b) {
  for (const SaidUse& x : a) {
    for (const SaidUse& y : b) {
      if (x.variable == y.variable &&
          (x.access != Access::kRead || y.access != Access::kRead)) {
        return true;
      }
    }
  }
  return false;
}

// By the definition: not yet complete, and everything before it that it
// conflicts with is.
std::set<size_t> MayRun(const Program& program, const std::set<size_t>& done) {
  std::set<size_t> may;
  for (size_t i = 0; i < program.size(); ++i) {
    bool waits = done.count(i) > 0;
    for (size_t j = 0; j < i; ++j) {
      waits |= done.count(j) == 0 && Conflict(program[j], program[i]);
    }
    if (!waits) may.insert(i);
  }
  return may;
}

struct Op : Pending {
  std::vector<Use> said;
  size_t number = 0;
};

// One run of a program, in which what ends next is chosen from outside.
class Machine {
 public:
  Machine(const Program& program, size_t variables) : variables_(variables) {
    for (size_t i = 0; i < program.size(); ++i) {
      Op& op = ops_.emplace_back();
      op.number = i;
      for (const SaidUse& use : program[i]) {
        op.said.push_back({&variables_[use.variable], use.access});
      }
      op.uses = op.said;
      Dependencies::Add(op, ready_);
      Take();
    }
  }

  void End(size_t op, const std::shared_ptr<Failure>& failure = nullptr) {
    REQUIRE(may_run_.erase(op) == 1);
    Dependencies::Complete(ops_[op], failure, ready_);
    Take();
  }
  const std::set<size_t>& may_run() const { return may_run_; }
  std::shared_ptr<Failure> Inherited(size_t op) const {
    return Dependencies::Inherited(ops_[op]);
  }

 private:
  void Take() {
    for (Pending* op : ready_) {
      const bool is_new = may_run_.insert(static_cast<Op*>(op)->number).second;
      CHECK(is_new);
    }
    ready_.clear();
  }

  std::deque<Variable> variables_;
  std::deque<Op> ops_;
  Dependencies::Ready ready_;
  std::set<size_t> may_run_;
};

// Every order of ends from the state that `ended` leads to.
void WalkAll(const Program& program, size_t variables,
             std::vector<size_t>& ended, std::set<std::set<size_t>>& seen) {
  Machine machine(program, variables);
  for (const size_t op : ended) machine.End(op);
  const std::set<size_t> done(ended.begin(), ended.end());
  REQUIRE(machine.may_run() == MayRun(program, done));
  if (done.size() < program.size()) REQUIRE(!machine.may_run().empty());
  // How the machine got to a set of ends makes no difference to what may run;
  // the rule is checked on every way to it, but gone on from one.
  if (!seen.insert(done).second) return;
  for (const size_t next : machine.may_run()) {
    ended.push_back(next);
    WalkAll(program, variables, ended, seen);
    ended.pop_back();
  }
}

Program Draw(std::mt19937& random, size_t operations, size_t variables) {
  const auto below = [&](size_t n) { return random() % n; };
  Program program(operations);
  for (auto& uses : program) {
    const size_t count = below(4);
    for (size_t i = 0; i < count; ++i) {
      uses.push_back({below(variables), static_cast<Access>(below(3))});
    }
  }
  return program;
}

TEST_CASE("an operation may run when all it conflicts with are complete") {
  std::mt19937 random(1);
  for (int i = 0; i < 400; ++i) {
    const size_t variables = 1 + random() % 4;
    const Program program = Draw(random, 2 + random() % 6, variables);
    std::vector<size_t> ended;
    std::set<std::set<size_t>> seen;
    WalkAll(program, variables, ended, seen);
  }
}

TEST_CASE("the rule holds over long queues that never become empty") {
  std::mt19937 random(2);
  const Program program = Draw(random, 200, 5);
  Machine machine(program, 5);
  std::set<size_t> done;
  while (done.size() < program.size()) {
    REQUIRE(machine.may_run() == MayRun(program, done));
    auto next = machine.may_run().begin();
    std::advance(next, random() % machine.may_run().size());
    done.insert(*next);
    machine.End(*next);
  }
}

TEST_CASE("a failure goes to all that needs the value, and no further") {
  const auto failure = std::make_shared<Failure>();
  failure->status = Status(StatusCode::kFailed, "no");
  enum : size_t { kA, kB, kC };
  const Program program = {
      {{kA, Access::kWrite}},                       // fails
      {{kA, Access::kRead}, {kB, Access::kWrite}},  // needs it
      {{kC, Access::kWrite}},                       // does not
      {{kB, Access::kUpdate}},                      // needs what needs it
      {{kB, Access::kWrite}, {kC, Access::kRead}},  // makes it good
      {{kB, Access::kRead}},
      {{kA, Access::kWrite}, {kA, Access::kRead}},  // both is an update
  };
  Machine machine(program, 3);
  machine.End(0, failure);
  CHECK(machine.Inherited(1) == failure);
  CHECK(machine.Inherited(2) == nullptr);
  machine.End(1, failure);
  machine.End(2);
  CHECK(machine.Inherited(3) == failure);
  machine.End(3, failure);
  CHECK(machine.Inherited(4) == nullptr);
  machine.End(4);
  CHECK(machine.Inherited(5) == nullptr);
  CHECK(machine.Inherited(6) == failure);
}

TEST_CASE("what would have to wait is not added by trying") {
  Variable value;
  Use read{&value, Access::kRead}, write{&value, Access::kWrite};
  Op reader, writer, again;
  reader.uses = {&read, 1};
  writer.uses = {&write, 1};
  Dependencies::Ready ready;
  REQUIRE(Dependencies::TryAdd(reader));
  CHECK_FALSE(Dependencies::TryAdd(writer));
  Dependencies::Complete(reader, nullptr, ready);
  CHECK(ready.empty());
  CHECK(Dependencies::TryAdd(writer));
  Dependencies::Add(again, ready);
  CHECK(ready.size() == 1);  // uses nothing
}

}  // namespace
}  // namespace mxc::test
