// SPDX-License-Identifier: Apache-2.0
#include "runtime/ndarray/idle_executors.h"

#include <iterator>
#include <utility>

namespace mxc::runtime {

uint64_t OwnBytes(const Executor& executor) {
  const bool has_arena = executor.arena() == nullptr;
  return (has_arena ? executor.entry().arena_bytes : 0) +
         executor.scratch_bytes() +
         executor.model().tables().header().state_bytes;
}

IdleExecutors::Arena IdleExecutors::Lend(uint64_t bytes) {
  Ended ended;
  const std::lock_guard lock(mutex_);
  if (is_lent_) return nullptr;
  const uint64_t size = arena_ == nullptr ? 0 : arena_->size();
  // One that is larger than what may be kept stays for its like alone.
  if (size < bytes || (size > most_ && bytes < size / 2)) {
    ended = RemoveThoseInArena();
    auto made = Region::Allocate(bytes, "intermediate values");
    arena_ =
        made.ok() ? std::make_shared<const Region>(std::move(*made)) : nullptr;
  }
  is_lent_ = arena_ != nullptr;
  return arena_;
}

void IdleExecutors::TakeBack() {
  const std::lock_guard lock(mutex_);
  is_lent_ = false;
}

std::unique_ptr<Executor> IdleExecutors::Take(const Model& model,
                                              const Arena& arena) {
  const std::lock_guard lock(mutex_);
  const auto [first, last] = by_model_.equal_range(&model);
  for (auto each = first; each != last; ++each) {
    if (each->second->executor->arena() == arena) return Remove(each->second);
  }
  return nullptr;
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
  Ended ended;
  const std::lock_guard lock(mutex_);
  for (auto found = by_model_.find(&model); found != by_model_.end();
       found = by_model_.find(&model)) {
    ended.push_back(Remove(found->second));
  }
}

IdleExecutors::Ended IdleExecutors::RemoveThoseInArena() {
  Ended removed;
  for (auto each = list_.begin(); each != list_.end();) {
    const auto next = std::next(each);
    if (each->executor->arena() != nullptr) removed.push_back(Remove(each));
    each = next;
  }
  return removed;
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
