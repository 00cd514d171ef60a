// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/engine.h"

#include <system_error>
#include <utility>

#include "runtime/base/start_thread.h"
#include "runtime/engine/forks.h"

namespace mxc::runtime {
namespace {

// The operation that the thread is in.
struct Current {
  const char* name = nullptr;  // null: none
  LaneKind lane = LaneKind::kCompute;
};
thread_local Current current;

class Inside {
 public:
  explicit Inside(const Operation& what)
      : before_(std::exchange(current, {what.name, what.lane})) {}
  ~Inside() { current = before_; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  const Current before_;
};

// Why it does not run.
std::shared_ptr<Failure> InheritedBy(const PushedOperation& operation) {
  if (operation.what.parts) return nullptr;
  return Dependencies::Inherited(operation);
}

bool MayWait() {
  return current.name == nullptr || current.lane == LaneKind::kCallbacks;
}

}  // namespace

// ---- Completion ----------------------------------------------------------

Completion::Completion(Completion&& other) noexcept
    : operation_(std::exchange(other.operation_, nullptr)) {}

Completion::~Completion() {
  if (operation_ == nullptr) return;
  Done(Fail(StatusCode::kFailed, "%s never said that it had ended",
            operation_->what.name));
}

void Completion::Done(const Status& status) {
  PushedOperation* const operation = std::exchange(operation_, nullptr);
  if (operation == nullptr) return;
  Engine& engine = operation->engine;
  engine.Finish(*operation, engine.NewFailure(status));
}

// ---- Begin and end -------------------------------------------------------

Engine::Engine(const EngineOptions& options)
    : options_(options), threads_(NewThreads()) {
  Forks::Watch(*this);
}

std::unique_ptr<Engine::Threads> Engine::NewThreads() const {
  auto threads = std::make_unique<Threads>();
  for (const int limit : options_.threads) threads->lanes.emplace_back(limit);
  return threads;
}

Engine::~Engine() {
  Forks::Forget(*this);
  {
    Lock lock(mutex_);
    threads_->something_ended.wait(
        lock, [&] { return pending_ == 0 || has_lost_operations_; });
    is_closing_ = true;
    for (Lane& lane : threads_->lanes) lane.WakeAll();
  }
  for (Lane& lane : threads_->lanes) lane.Join();
}

bool Engine::IsInOperation() { return current.name != nullptr; }

// ---- Pushing -------------------------------------------------------------

void Engine::Push(Operation what, std::vector<Use> uses) {
  auto owned = std::make_unique<PushedOperation>(*this, std::move(what),
                                                 std::move(uses));
  Dependencies::Ready ready;
  Finished finished;
  PushedOperation& operation = *owned;
  {
    Lock lock(mutex_);
    operation.number = ++pushed_;
    // One that is pushed by an operation may have to wait for that.
    operation.is_awaited = options_.is_naive && !IsInOperation();
    Dependencies::Add(operation, ready);
    owned.release();  // to Complete
    ++pending_;
    Dispatch(ready, finished);
    if (!operation.is_awaited) return;
    threads_->something_ended.wait(lock, [&] { return operation.may_run; });
  }
  const auto inherited = InheritedBy(operation);
  if (inherited != nullptr) {
    Finish(operation, inherited);
  } else {
    Run(operation);
  }
}

bool Engine::Begin(Brief& brief) {
  const Lock lock(mutex_);
  if (!Dependencies::TryAdd(brief)) return false;
  ++pending_;
  return true;
}

void Engine::End(Brief& brief, const std::shared_ptr<Failure>& failure) {
  Dependencies::Ready ready;
  Finished finished;
  const Lock lock(mutex_);
  Dependencies::Complete(brief, failure, ready);
  CountEnd();
  Dispatch(ready, finished);
}

// ---- Waiting -------------------------------------------------------------

Status Engine::Wait(Variable& variable) {
  return WaitFor(variable, Access::kRead);
}

Status Engine::WaitToWrite(Variable& variable) {
  return WaitFor(variable, Access::kUpdate);
}

Status Engine::WaitFor(Variable& variable, Access access) {
  PushedOperation barrier(*this, Operation(), {{&variable, access}});
  barrier.is_awaited = true;
  Dependencies::Ready ready;
  Finished finished;
  Lock lock(mutex_);
  if (MayWait() && !has_lost_operations_) {
    Dependencies::Add(barrier, ready);
  } else if (Dependencies::TryAdd(barrier)) {
    ready.push_back(&barrier);
  } else if (has_lost_operations_) {
    return Fail(StatusCode::kBusy,
                "the process was forked while operations ran");
  } else {
    return Fail(StatusCode::kBusy, "%s waits for another operation",
                current.name);
  }
  Dispatch(ready, finished);
  threads_->something_ended.wait(lock, [&] { return barrier.may_run; });
  return barrier.found == nullptr ? Status()
                                  : UntoldFailures::TellOf(*barrier.found);
}

Status Engine::WaitForAll() {
  Lock lock(mutex_);
  if (IsInOperation() || has_lost_operations_) {
    return Fail(StatusCode::kBusy, "an operation waits for all operations");
  }
  threads_->something_ended.wait(lock, [&] { return pending_ == 0; });
  return untold_.Tell();
}

// ---- Running -------------------------------------------------------------

void Engine::Serve(Lane& lane) {
  Lock lock(mutex_);
  while (true) {
    while (lane.IsEmpty() && !is_closing_) lane.Wait(lock);
    PushedOperation* const operation = lane.Take();
    if (operation == nullptr) return;
    lock.unlock();
    Run(*operation);
    lock.lock();
  }
}

void Engine::Run(PushedOperation& operation) {
  const Inside inside(operation.what);
  if (operation.what.begin) {
    // The operation may be complete, and gone, before this returns.
    const auto begin = std::move(operation.what.begin);
    begin(Completion(operation));
  } else if (operation.what.parts) {
    RunParts(operation);
  } else {
    Finish(operation,
           NewFailure(StatusOf(operation.what.name, operation.what.run)));
  }
}

void Engine::RunParts(PushedOperation& operation) {
  // Nobody changes what is wrong with a variable that somebody has.
  Values values = Dependencies::ValuesOf(operation);
  const Status status = StatusOf(operation.what.name, [&] {
    operation.what.parts(values);
    return Status();
  });
  if (!status.ok()) values.SetWritten(status);
  Dependencies::Ready ready;
  Finished finished;
  const Lock lock(mutex_);
  for (const auto& failure : values.made()) untold_.Add(failure);
  Dependencies::Complete(operation, values, ready);
  finished.emplace_back(&operation);
  CountEnd();
  Dispatch(ready, finished);
}

std::shared_ptr<Failure> Engine::NewFailure(const Status& status) {
  if (status.ok()) return nullptr;
  auto failure = std::make_shared<Failure>(Failure{status, false});
  const Lock lock(mutex_);
  untold_.Add(failure);
  return failure;
}

void Engine::Finish(PushedOperation& operation,
                    const std::shared_ptr<Failure>& failure) {
  Dependencies::Ready ready;
  Finished finished;
  const Lock lock(mutex_);
  Complete(operation, failure, ready, finished);
  Dispatch(ready, finished);
}

void Engine::Complete(PushedOperation& operation,
                      const std::shared_ptr<Failure>& failure,
                      Dependencies::Ready& ready, Finished& finished) {
  Dependencies::Complete(operation, failure, ready);
  finished.emplace_back(&operation);
  CountEnd();
}

void Engine::CountEnd() {
  if (--pending_ == 0) threads_->something_ended.notify_all();
}

void Engine::Dispatch(Dependencies::Ready& ready, Finished& finished) {
  // It grows as it is walked.
  for (size_t i = 0; i < ready.size(); ++i) {
    auto& operation = static_cast<PushedOperation&>(*ready[i]);
    std::shared_ptr<Failure> failure = InheritedBy(operation);
    if (operation.is_awaited) {
      if (operation.IsBarrier()) {
        operation.found = failure;
        Dependencies::Complete(operation, failure, ready);
      }
      operation.may_run = true;
      threads_->something_ended.notify_all();
      continue;
    }
    if (failure == nullptr) failure = GiveToLane(operation);
    if (failure != nullptr) Complete(operation, failure, ready, finished);
  }
}

std::shared_ptr<Failure> Engine::GiveToLane(PushedOperation& operation) {
  Lane& lane = threads_->lanes[static_cast<size_t>(operation.what.lane)];
  if (lane.WantsThread()) {
    try {
      lane.Keep(StartThread("runs operations", [this, &lane] { Serve(lane); }));
    } catch (const std::system_error& error) {
      if (!lane.HasThreads()) {
        auto failure = std::make_shared<Failure>(
            Failure{Status(StatusCode::kOutOfMemory, error.what()), false});
        untold_.Add(failure);
        return failure;
      }
    }
  }
  lane.Put(operation);
  return nullptr;
}

}  // namespace mxc::runtime
