// SPDX-License-Identifier: Apache-2.0
// What is to be done, as it is pushed to the engine.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/engine/values.h"
#include "runtime/engine/variable.h"

namespace mxc::runtime {

class Engine;
class PushedOperation;

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
  explicit Completion(PushedOperation& operation) : operation_(&operation) {}
  PushedOperation* operation_;  // null once it was said
};

struct Operation {
  const char* name = "";  // lives until it is complete
  // One of the three; none in a barrier. `begin` is for what goes on after it has
  // returned, and lets no exception through. `parts` stands for several
  // operations: it runs whatever is wrong with what it reads, and says of each
  // value what becomes of it. They hold what the operation's variables belong to,
  // and are destroyed once it is complete, under no lock.
  std::function<Status()> run = {};
  std::function<void(Completion)> begin = {};
  std::function<void(Values&)> parts = {};
  LaneKind lane = LaneKind::kCompute;
  int priority = 0;  // the greater the sooner, among those that may run
};

class PushedOperation final : public Pending {
 public:
  PushedOperation(Engine& its_engine, Operation what_it_is,
                  std::vector<Use> its_uses)
      : engine(its_engine),
        what(std::move(what_it_is)),
        uses_(std::move(its_uses)) {
    uses = uses_;
  }
  PushedOperation(const PushedOperation&) = delete;
  PushedOperation& operator=(const PushedOperation&) = delete;

  Engine& engine;
  Operation what;
  uint64_t number = 0;  // in the order of pushing
  // Of one that somebody waits for: whether it may run.
  bool is_awaited = false, may_run = false;
  // Of a barrier, which does nothing: what is wrong with its variable.
  std::shared_ptr<Failure> found;

  bool IsBarrier() const { return !what.run && !what.begin && !what.parts; }

 private:
  std::vector<Use> uses_;
};

}  // namespace mxc::runtime
