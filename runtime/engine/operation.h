// SPDX-License-Identifier: Apache-2.0
// What is to be done, as it is pushed to the engine.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/engine/variable.h"

namespace mxc::runtime {

class Engine;
class EngineOperation;

// Where operations run. Each lane has threads of its own, so that what waits in
// one does not hold up the others.
enum class LaneKind {
  kCompute,    // on processors and devices
  kCopies,     // between memories, to and from files
  kExchange,   // with other processes
  kCallbacks,  // the user's functions, which may wait for others
};
inline constexpr int kLaneKinds = 4;

// By which an operation that goes on elsewhere says that it has ended: once,
// from any thread. If it is dropped unused, the operation has failed.
class Completion {
 public:
  Completion(Completion&& other) noexcept;
  Completion& operator=(Completion&&) = delete;
  ~Completion();
  void Done(const Status& status);

 private:
  friend class Engine;
  explicit Completion(EngineOperation& operation) : operation_(&operation) {}
  EngineOperation* operation_;  // null once it was said
};

struct Work {
  const char* name = "";  // lives as long as the engine
  // One of the two; none in a barrier. `begin` is for what goes on after it has
  // returned, and lets no exception through. They hold what the operation's
  // variables belong to, and are destroyed once it is complete, under no lock.
  std::function<Status()> run = {};
  std::function<void(Completion)> begin = {};
  LaneKind lane = LaneKind::kCompute;
  int priority = 0;  // the greater the sooner, among those that may run
};

class EngineOperation final : public Pending {
 public:
  EngineOperation(Engine& its_engine, Work its_work, std::vector<Use> its_uses)
      : engine(its_engine),
        work(std::move(its_work)),
        uses_(std::move(its_uses)) {
    uses = uses_;
  }
  EngineOperation(const EngineOperation&) = delete;
  EngineOperation& operator=(const EngineOperation&) = delete;

  Engine& engine;
  Work work;
  uint64_t number = 0;  // in the order of pushing
  // Of one that somebody waits for: whether it may run.
  bool is_awaited = false, may_run = false;
  // Of a barrier, which does nothing: what is wrong with its variable.
  std::shared_ptr<Failure> found;

  bool IsBarrier() const { return !work.run && !work.begin; }

 private:
  std::vector<Use> uses_;
};

}  // namespace mxc::runtime
