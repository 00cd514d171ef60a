// SPDX-License-Identifier: Apache-2.0
// One team of threads for several executors.
#include <doctest/doctest.h>

#include <atomic>
#include <filesystem>
#include <iterator>
#include <memory>
#include <thread>
#include <vector>

#include "runtime/executor/team.h"
#include "tests/runtime/api.h"
#include "tests/runtime/test_artifact.h"

namespace mxc::test {
namespace {

using runtime::kNoPhase;
using runtime::Phase;
using runtime::Team;
using runtime::Work;

Phase PhaseOf(uint32_t chunks, uint32_t participants) {
  Phase phase;
  phase.chunks = chunks;
  phase.participants = participants;
  return phase;
}

// Counts how often each chunk of each phase ran.
class Counts : public Work {
 public:
  explicit Counts(std::vector<Phase> phases) : phases_(std::move(phases)) {
    for (const Phase& phase : phases_) {
      ran_.push_back(std::make_unique<std::atomic<int>[]>(phase.chunks));
    }
  }
  void RunChunk(uint32_t phase, uint32_t chunk, int, bool) override {
    if (chunk >= phases_[phase].chunks) return void(beyond_ = true);
    ran_[phase][chunk].fetch_add(1, std::memory_order_relaxed);
  }
  uint32_t FinishPhase(uint32_t phase, int) override {
    return phase + 1 < phases_.size() ? phase + 1 : kNoPhase;
  }

  std::span<const Phase> phases() const { return phases_; }
  bool RanEach(int times) const {
    for (size_t p = 0; p < phases_.size(); ++p) {
      for (uint32_t c = 0; c < phases_[p].chunks; ++c) {
        if (ran_[p][c] != times) return false;
      }
    }
    return !beyond_;
  }

 private:
  const std::vector<Phase> phases_;
  std::vector<std::unique_ptr<std::atomic<int>[]>> ran_;
  std::atomic<bool> beyond_{false};
};

size_t ThreadsOfProcess() {
  return static_cast<size_t>(
      std::distance(std::filesystem::directory_iterator("/proc/self/task"),
                    std::filesystem::directory_iterator()));
}

struct CloseTeam {
  void operator()(mxc_team* team) const { mxc_team_close(team); }
};
using TeamHandle = std::unique_ptr<mxc_team, CloseTeam>;

ModelHandle ChainModel() {
  return Open(WriteTemporary("team", ChainArtifact().File()));
}

TeamHandle MakeTeam(int threads) {
  mxc_team* team = nullptr;
  REQUIRE(Message(mxc_team_create(threads, &team)) == "");
  return TeamHandle(team);
}

ExecutorHandle BindTo(mxc_team* team, mxc_model* model, int threads = 0) {
  mxc_bind_options options = MXC_BIND_OPTIONS;
  options.threads = threads;
  options.team = team;
  mxc_executor* executor = nullptr;
  REQUIRE(Message(mxc_bind(model, &options, &executor)) == "");
  return ExecutorHandle(executor);
}

}  // namespace

TEST_CASE("a team runs each chunk of alternating works once") {
  constexpr int kRuns = 2000;
  const auto team = Team::Start(4);
  REQUIRE(team.ok());
  Counts wide({PhaseOf(16, 4), PhaseOf(3, 2), PhaseOf(40, 4)});
  Counts narrow({PhaseOf(2, 2)});
  for (int i = 0; i < kRuns; ++i) {
    (*team)->Run(wide.phases(), wide, 0);
    (*team)->Run(narrow.phases(), narrow, 0);
  }
  (*team)->Forget(narrow);
  CHECK(wide.RanEach(kRuns));
  CHECK(narrow.RanEach(kRuns));
}

TEST_CASE("callers of a team take turns, and a work may go after its run") {
  constexpr int kRuns = 300;
  const auto team = Team::Start(3);
  REQUIRE(team.ok());
  std::atomic<int> wrong = 0;
  std::vector<std::thread> callers;
  for (uint32_t c = 1; c <= 4; ++c) {
    callers.emplace_back([&, c] {
      for (int i = 0; i < kRuns; ++i) {
        Counts work({PhaseOf(5 * c, 3), PhaseOf(c, 1 + c % 3)});
        (*team)->Run(work.phases(), work, 0);
        if (!work.RanEach(1)) ++wrong;
        (*team)->Forget(work);
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  CHECK(wrong == 0);
}

TEST_CASE("a step may close another executor of its team, and not run it") {
  class Closing : public Work {
   public:
    explicit Closing(Team& team) : team_(team) {}
    void RunChunk(uint32_t, uint32_t, int, bool) override {
      team_.Forget(other_);
      if (!team_.CheckCaller().ok()) ++refused;
    }
    uint32_t FinishPhase(uint32_t, int) override { return kNoPhase; }
    std::atomic<int> refused{0};

   private:
    Team& team_;
    Counts other_{{PhaseOf(1, 1)}};
  };
  const auto team = Team::Start(2);
  REQUIRE(team.ok());
  Closing work(**team);
  const std::vector<Phase> phases = {PhaseOf(6, 2)};
  (*team)->Run(phases, work, 0);
  (*team)->Forget(work);
  CHECK(work.refused == 6);
  CHECK((*team)->CheckCaller().ok());
}

TEST_CASE("executors on one team need no threads of their own") {
  const ModelHandle model = ChainModel();
  const ExecutorHandle alone = Bind(model.get(), 1);
  SetInput(alone.get(), ChainInput(3));
  REQUIRE(Message(mxc_run(alone.get())) == "");
  TeamHandle team = MakeTeam(3);
  const size_t threads = ThreadsOfProcess();
  std::vector<ExecutorHandle> executors;
  for (int i = 0; i < 8; ++i) {
    executors.push_back(BindTo(team.get(), model.get()));
    CHECK(mxc_executor_threads(executors.back().get()) == 3);
  }
  CHECK(ThreadsOfProcess() == threads);
  team.reset();  // the executors keep what they use
  for (int round = 0; round < 20; ++round) {
    for (const ExecutorHandle& executor : executors) {
      SetInput(executor.get(), ChainInput(3));
      REQUIRE(Message(mxc_run(executor.get())) == "");
      CHECK(Output(executor.get(), 0) == Output(alone.get(), 0));
    }
    if (executors.size() > 1) executors.pop_back();
  }
}

TEST_CASE("a team has a number of threads, which an executor cannot exceed") {
  mxc_team* team = nullptr;
  CHECK(Contains(Message(mxc_team_create(-1, &team)), "-1 threads; 1 to"));
  const ModelHandle model = ChainModel();
  const TeamHandle two = MakeTeam(2);
  mxc_bind_options options = MXC_BIND_OPTIONS;
  options.threads = 3;
  options.team = two.get();
  mxc_executor* executor = nullptr;
  CHECK(Message(mxc_bind(model.get(), &options, &executor)) ==
        "3 threads of a team that has 2");
}

}  // namespace mxc::test
