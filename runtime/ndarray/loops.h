// SPDX-License-Identifier: Apache-2.0
// Loops of calls that are run as programs. The calls of a loop that was noticed
// (LoopFinder) wait until its turn is whole; then they are one program, compiled
// when its wiring is new, in which values that nobody has any more do not exist.
// Whoever asks for what waits has it run at once, and whatever is not as it was
// in the turn before runs call by call, as if nothing had waited.
//
// Threads: any. One lock, under which nothing waits for an operation: the
// engine's is taken within it, never the other way.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "runtime/engine/engine.h"
#include "runtime/ndarray/array.h"
#include "runtime/ndarray/call_sequence.h"
#include "runtime/ndarray/loop_finder.h"
#include "runtime/ndarray/loop_program.h"
#include "runtime/ndarray/recently_used.h"
#include "runtime/ndarray/run_call.h"
#include "runtime/ndarray/words_hash.h"

namespace mxc::runtime {

// What became of calls that came again and again.
struct LoopReport {
  struct Call {
    std::string text;  // "FullyConnected(float32[64,128], …)"
    std::string line;  // of the program that called it, as that says; or empty
  };
  std::vector<Call> calls;
  std::string outcome;  // empty: a program; else why they are not one
  uint64_t runs = 0;    // of the program
};

class Loops {
 public:
  Loops(Engine& engine, SharedTeam& team) : engine_(engine), team_(team) {}
  Loops(const Loops&) = delete;
  Loops& operator=(const Loops&) = delete;

  // From now on there are programs; before, every call is the caller's to run.
  void SetCompiler(std::unique_ptr<const SequenceCompiler> compiler);

  // Calls become programs however little time they take: for tests.
  void TakeShortOnes() { takes_short_ones_ = true; }

  // Whether the call waits from now on; else the caller runs it. Before its
  // writes are counted. Waits itself where turns pile up.
  bool Take(const GivenCall& call);
  // Somebody is about to use the array in another way than by a call.
  void Settle(const NDArray& array);
  void SettleAll();

  // The last used first.
  std::vector<LoopReport> Reports();
  // Whether reports are to be written for which callers should say who they are.
  bool asks_for_lines() const {
    return asks_for_lines_.load(std::memory_order_relaxed);
  }
  // Which line makes the calling thread's next calls.
  static std::string& Line();

  // Nothing waits, nor begins to, until the fork is over.
  void BeginFork();
  void EndFork() { mutex_.unlock(); }

 private:
  class Locked;
  struct Part;
  using PartPtr = std::shared_ptr<Part>;
  using Calls = std::vector<WaitingCall>;
  // What is let go of under no lock: arrays may end functions of their owners.
  using LetGo = std::vector<Calls>;

  bool TakeLocked(const GivenCall& call);
  void Note(const GivenCall& call);
  void Register(LoopPart part);

  // Under the lock.
  bool TakeInto(const GivenCall& call, LetGo& gone);
  void Add(const GivenCall& call);
  // Runs what waits, so that nothing that uses the chunk does; null: nothing.
  void Settle(const Chunk* chunk, LetGo& gone);
  void RunTurn(LetGo& gone);
  void RunEach(Calls calls, LetGo& gone);
  Calls First(size_t count);
  std::shared_ptr<LoopProgram> ProgramOf(const CallSequence& sequence);
  // Its calls came otherwise too often.
  void Leave();
  void GiveUp(const std::string& why);
  // Until its loop is noticed again.
  void PutToSleep(const PartPtr& part);
  PartPtr Woken(const LoopPart& turn);  // null: it is new
  void Tell(const WaitingCall& call);

  static constexpr size_t kMostParts = 64, kMostGivenUp = 1024;
  // A loop that was given up so often is not looked for again.
  static constexpr int kMostTries = 4;

  Engine& engine_;
  SharedTeam& team_;
  const std::shared_ptr<TurnsAhead> ahead_ = std::make_shared<TurnsAhead>();
  std::atomic<bool> is_on_{false};
  std::atomic<bool> is_active_{false};  // has parts, or calls that wait
  std::atomic<bool> asks_for_lines_{false};
  std::atomic<bool> takes_short_ones_{false};
  std::mutex mutex_;
  std::unique_ptr<const SequenceCompiler> compiler_;
  RecentlyUsed<uint64_t, PartPtr> parts_{kMostParts};  // by their first call
  // By all their calls: those that ran and are not waited for until they are
  // noticed again, as training while its network is tried on other data.
  RecentlyUsed<std::vector<uint64_t>, PartPtr, WordsHash> asleep_{kMostParts};
  // How often, by all their calls.
  RecentlyUsed<std::vector<uint64_t>, int, WordsHash> given_up_{kMostGivenUp};
  std::deque<LoopReport> failures_;  // the last one last
  Calls waiting_;
  PartPtr part_;  // of which `waiting_` are the first calls
  std::thread::id owner_;
};

}  // namespace mxc::runtime
