// SPDX-License-Identifier: Apache-2.0
#include "runtime/ndarray/idle_executors.h"

#include <utility>

namespace mxc::runtime {

uint64_t OwnBytes(const Executor& executor) {
  return executor.entry().arena_bytes + executor.scratch_bytes() +
         executor.model().tables().header().state_bytes;
}

std::unique_ptr<Executor> IdleExecutors::Take(const Model& model) {
  const std::lock_guard lock(mutex_);
  const auto found = by_model_.find(&model);
  return found == by_model_.end() ? nullptr : Remove(found->second);
}

void IdleExecutors::Give(std::unique_ptr<Executor> executor) {
  std::list<std::unique_ptr<Executor>> ended;  // outside of the lock
  const Model* const model = &executor->model();
  const uint64_t bytes = OwnBytes(*executor);
  const std::lock_guard lock(mutex_);
  list_.push_front({std::move(executor), bytes});
  by_model_.emplace(model, list_.begin());
  bytes_ += bytes;
  while (bytes_ > most_ && list_.size() > 1) {
    ended.push_back(Remove(std::prev(list_.end())));
  }
}

void IdleExecutors::Forget(const Model& model) {
  while (Take(model) != nullptr) {
  }
}

uint64_t IdleExecutors::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

std::unique_ptr<Executor> IdleExecutors::Remove(List::iterator at) {
  std::unique_ptr<Executor> executor = std::move(at->executor);
  auto [first, last] = by_model_.equal_range(&executor->model());
  while (first->second != at) ++first;
  by_model_.erase(first);
  bytes_ -= at->bytes;
  list_.erase(at);
  return executor;
}

}  // namespace mxc::runtime
