// SPDX-License-Identifier: Apache-2.0
// A team of threads that runs the phases of a schedule, over and over.
//
// The calling thread is thread 0 of the team; the others are started once and
// wait, spinning for a while and then asleep. A phase is over when its chunks
// are done, not when every thread has come by: a thread that has lost its core
// delays nobody unless it holds a chunk, and the others take over the chunks it
// has not begun. The thread that finishes the last chunk runs the phase's tail
// and opens the next phase.
#pragma once

#include <pthread.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/executor/schedule.h"

namespace mxc::runtime {

// What the team's threads do. Calls for one phase may come at once from
// different threads; what happens in one phase is visible in the next.
class Work {
 public:
  // `is_first`: the thread's first chunk of the phase.
  virtual void RunChunk(const Phase& phase, uint32_t chunk, int thread,
                        bool is_first) = 0;
  // All chunks are done.
  virtual void FinishPhase(const Phase& phase, int thread) = 0;

 protected:
  ~Work() = default;
};

class Team {
 public:
  // `phases` and `work` must outlive the team. `threads` counts the caller.
  static StatusOr<std::unique_ptr<Team>> Start(const std::vector<Phase>& phases,
                                               Work& work, int threads);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  // Runs every phase; returns when the last one is over. One call at a time. A
  // process that was forked from the team's own has the caller alone: there it
  // runs every chunk.
  void Run();

 private:
  struct Member;

  Team(const std::vector<Phase>& phases, Work& work, int threads);

  static void* ThreadMain(void* member);
  void Serve(int thread);
  // Takes part in the phase that is open, until no chunk of it is left.
  void Participate(uint64_t generation, int thread);
  bool TakeChunk(Member& owner, const Phase& phase, uint64_t generation,
                 uint32_t* chunk);
  void Open(uint64_t generation);
  // Returns the generation once it is no longer `seen`, or 0 to leave.
  uint64_t AwaitChange(uint64_t seen);
  uint64_t Sleep(uint64_t seen);
  void WakeAll();

  uint64_t generation() const {
    return state_.load(std::memory_order_acquire) >> kChunkBits;
  }
  size_t PhaseOf(uint64_t generation) const {
    return generation % (phases_.size() + 1);
  }
  uint64_t IdleFrom(uint64_t generation) const {
    return generation - PhaseOf(generation) + phases_.size();
  }

  static constexpr int kChunkBits = 16;

  const std::vector<Phase>& phases_;
  Work& work_;
  const int thread_count_;
  const pid_t process_;  // where its threads live
  std::unique_ptr<Member[]> members_;

  // The generation in the upper bits, the open phase's unfinished chunks in the
  // lower ones. Generation g stands for phase g mod (phases + 1), the last of
  // which means that the team is idle.
  alignas(128) std::atomic<uint64_t> state_;
  alignas(128) std::atomic<uint32_t> sleepers_{0};
  std::atomic<uint32_t> wake_{0};  // what sleepers wait on
  std::atomic<bool> leave_{false};
};

}  // namespace mxc::runtime
