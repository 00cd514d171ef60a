// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/forks.h"

#include <pthread.h>

#include <mutex>
#include <vector>

#include "runtime/engine/engine.h"

namespace mxc::runtime {
namespace {

// Never destroyed: engines may outlive it otherwise.
struct Watched {
  std::mutex mutex;
  std::vector<Engine*> engines;
};

Watched& AllWatched() {
  static auto* const watched = new Watched;
  return *watched;
}

}  // namespace

void Forks::Watch(Engine& engine) {
  Watched& watched = AllWatched();
  const std::lock_guard lock(watched.mutex);
  static const int registered =
      pthread_atfork(&Prepare, &InParent, &InChild);  // fails without memory
  static_cast<void>(registered);
  watched.engines.push_back(&engine);
}

void Forks::Forget(const Engine& engine) {
  Watched& watched = AllWatched();
  const std::lock_guard lock(watched.mutex);
  std::erase(watched.engines, &engine);
}

void Forks::Prepare() {
  Watched& watched = AllWatched();
  watched.mutex.lock();
  for (Engine* const engine : watched.engines) {
    Engine::Lock lock(engine->mutex_);
    if (!Engine::IsInOperation()) {
      engine->threads_->something_ended.wait(
          lock, [&] { return engine->pending_ == 0; });
    }
    lock.release();  // held until the fork is over
  }
}

void Forks::InParent() {
  Watched& watched = AllWatched();
  for (Engine* const engine : watched.engines) engine->mutex_.unlock();
  watched.mutex.unlock();
}

void Forks::InChild() {
  for (Engine* const engine : AllWatched().engines) {
    // The parent's threads are not here, but what they sleep on is in use.
    static_cast<void>(engine->threads_.release());
    engine->threads_ = engine->NewThreads();
    engine->has_lost_operations_ = engine->pending_ > 0;
  }
  InParent();
}

}  // namespace mxc::runtime
