// SPDX-License-Identifier: Apache-2.0
// A team of threads that runs phases, one after the other; those of any number
// of executors, which take turns.
//
// The calling thread is thread 0 of the team; the others are started once and
// wait, spinning for a while and then asleep. A phase is over when its chunks
// are done, not when every thread has come by: a thread that has lost its core
// delays nobody unless it holds a chunk, and the others take over the chunks it
// has not begun. The thread that finishes the last chunk does what lies between
// this phase and the next, whichever that is, and opens the next.
#pragma once

#include <pthread.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>

#include "runtime/base/status.h"
#include "runtime/executor/schedule.h"

namespace mxc::runtime {

// What the team's threads do. Calls for one phase may come at once from
// different threads; what happens in one phase is visible in the next.
class Work {
 public:
  // `is_first`: the thread's first chunk of the phase.
  virtual void RunChunk(uint32_t phase, uint32_t chunk, int thread,
                        bool is_first) = 0;
  // All chunks are done. Returns the next phase, or kNoPhase.
  virtual uint32_t FinishPhase(uint32_t phase, int thread) = 0;

 protected:
  ~Work() = default;
};

class Team {
 public:
  // `threads` counts the caller of Run.
  static StatusOr<std::shared_ptr<Team>> Start(int threads);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int threads() const { return thread_count_; }

  // Runs phase `first` of `phases` and those that follow it, as `work` does
  // them; returns when there is none. No phase has more participants than the
  // team. Callers at once wait for each other. A process that was forked from
  // the team's own has the caller alone: there it runs every chunk.
  void Run(std::span<const Phase> phases, Work& work, uint32_t first);

  // kBusy where the caller is itself in a chunk of this team: Run would wait for
  // its own end.
  Status CheckCaller() const;

  // From now on nobody reads `work` or its phases; not during a run of it.
  void Forget(const Work& work);

 private:
  struct Member;

  // What is going on: a generation, which counts what was opened, in the upper
  // bits, and the phase, or kNoPhase, in the lower ones. One word, so that a
  // thread that comes late never takes a phase for one of another generation.
  using Ticket = uint64_t;
  static constexpr int kPhaseBits = 16;
  static_assert(kNoPhase >> kPhaseBits == 0);
  static uint32_t PhaseOf(Ticket ticket) {
    return static_cast<uint32_t>(ticket % (Ticket{1} << kPhaseBits));
  }
  static uint64_t GenerationOf(Ticket ticket) { return ticket >> kPhaseBits; }

  explicit Team(int threads);

  static void* ThreadMain(void* member);
  void Serve(int thread);
  // Waits until no thread is in a phase; while none is open.
  void AwaitIdle();
  // Takes part in the phase that is open, until no chunk of it is left.
  void Participate(Ticket ticket, int thread);
  bool TakeChunk(Member& owner, const Phase& phase, uint64_t generation,
                 uint32_t* chunk);
  void Open(uint64_t generation, uint32_t phase);
  // Returns the ticket once it is no longer `seen`, or 0 to leave.
  Ticket AwaitChange(Ticket seen);
  Ticket Sleep(Ticket seen);
  void WakeAll();

  static constexpr int kChunkBits = 16;

  std::mutex turn_;  // who runs
  // Change while no phase is open and no thread is in one.
  std::span<const Phase> phases_;
  Work* work_ = nullptr;
  const int thread_count_;
  const pid_t process_;  // where its threads live
  std::unique_ptr<Member[]> members_;

  alignas(128) std::atomic<Ticket> ticket_;
  // Chunks of the open phase that nobody has reported as done. Who holds one of
  // them knows that the phase is open.
  std::atomic<uint64_t> unfinished_{0};
  alignas(128) std::atomic<uint32_t> sleepers_{0};
  std::atomic<uint32_t> wake_{0};  // what sleepers wait on
  std::atomic<bool> leave_{false};
};

}  // namespace mxc::runtime
