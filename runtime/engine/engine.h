// SPDX-License-Identifier: Apache-2.0
// The engine: runs operations side by side, in an order that nobody can tell
// from the one in which they were pushed.
//
//   Engine engine;
//   Variable a, b;
//   engine.Push({.name = "fill", .run = [&] { …; return Status(); }},
//               {{&a, Access::kWrite}});
//   engine.Push({.name = "copy", .run = …},
//               {{&a, Access::kRead}, {&b, Access::kWrite}});
//   Status status = engine.Wait(b);
//
// Errors: an operation that fails or throws leaves its failure in what it was to
// write. Operations that need such a value do not run and fail with the same;
// Wait tells it. A failure that nobody was told is told by WaitForAll. What is
// written whole (kWrite) is good again.
//
// Threads: any may push and wait. Operations may push others. One may wait for
// others on the lane kCallbacks alone, and for such as do not wait for itself;
// elsewhere Wait is kBusy where it would have to wait, for the thread that it
// holds may be the one that is needed.
//
// Processes: fork waits until nothing is pending (not where an operation forks).
// The child has the variables as they are, and threads of its own once it pushes.
//
// Source: MXNet 1.9.1's src/engine, but for failures of what is overwritten.
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/engine/dependencies.h"
#include "runtime/engine/lane.h"
#include "runtime/engine/operation.h"
#include "runtime/engine/status_of.h"
#include "runtime/engine/untold_failures.h"

namespace mxc::runtime {

struct EngineOptions {
  // At most, of each lane; they are started when there is work for them.
  std::array<int, kLaneKinds> threads = {1, 1, 1, 64};
  // Operations run when they are pushed, on the thread that pushes them: slow,
  // and easy to follow in a debugger.
  bool is_naive = false;
};

class Engine {
 public:
  explicit Engine(const EngineOptions& options = {});
  // Waits until nothing is pending.
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  void Push(Operation what, std::vector<Use> uses);
  // Runs `run`, which returns a Status, on the calling thread and returns true,
  // where nothing has to be waited for: for what takes less time than handing it
  // over. Else nothing has happened. Its failures are those of Push.
  template <class Function>
  bool TryRun(const char* name, const Function& run, std::span<Use> uses);

  // Until all is complete that was pushed and writes the variable; what is wrong
  // with it.
  Status Wait(Variable& variable);
  // The same for all that uses it: the caller may then write the value itself, as
  // long as nobody pushes what uses it.
  Status WaitToWrite(Variable& variable);
  // Until nothing is pending. The first failure that nobody was told.
  Status WaitForAll();

  // Returns whether the calling thread is in an operation.
  static bool IsInOperation();

 private:
  friend class Completion;
  friend class Forks;
  using Lock = std::unique_lock<std::mutex>;
  // Operations that are complete. Destroyed where no lock is held, for with them
  // goes what they hold.
  using Finished = std::vector<std::unique_ptr<PushedOperation>>;
  // An operation without anything to hand over.
  class Brief final : public Pending {};
  // What threads sleep on, and they: a forked child has it anew.
  struct Threads {
    std::condition_variable something_ended;
    std::deque<Lane> lanes;  // by LaneKind
  };

  Status WaitFor(Variable& variable, Access access);
  bool Begin(Brief& brief);
  void End(Brief& brief, const std::shared_ptr<Failure>& failure);
  std::shared_ptr<Failure> NewFailure(const Status& status);

  std::unique_ptr<Threads> NewThreads() const;
  void Serve(Lane& lane);
  void Run(PushedOperation& operation);
  void RunParts(PushedOperation& operation);
  void Finish(PushedOperation& operation,
              const std::shared_ptr<Failure>& failure);

  // Under the lock.
  // What is ready goes to its lane; what has nothing to do is complete.
  void Dispatch(Dependencies::Ready& ready, Finished& finished);
  // Null, or why no thread can run it.
  std::shared_ptr<Failure> GiveToLane(PushedOperation& operation);
  void Complete(PushedOperation& operation,
                const std::shared_ptr<Failure>& failure,
                Dependencies::Ready& ready, Finished& finished);
  void CountEnd();

  const EngineOptions options_;
  std::mutex mutex_;
  std::unique_ptr<Threads> threads_;
  size_t pending_ = 0;  // operations, without barriers
  uint64_t pushed_ = 0;
  bool is_closing_ = false;
  // In the child of an operation that forked: the others that ran never end.
  bool has_lost_operations_ = false;
  UntoldFailures untold_;
};

template <class Function>
bool Engine::TryRun(const char* name, const Function& run,
                    std::span<Use> uses) {
  Brief brief;
  brief.uses = uses;
  if (!Begin(brief)) return false;
  // Nobody changes what is wrong with a variable that somebody has.
  if (const auto inherited = Dependencies::Inherited(brief)) {
    End(brief, inherited);
  } else {
    End(brief, NewFailure(StatusOf(name, run)));
  }
  return true;
}

}  // namespace mxc::runtime
