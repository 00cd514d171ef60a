// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/lane.h"

#include <algorithm>

#include "runtime/engine/operation.h"

namespace mxc::runtime {
namespace {

bool IsLater(const EngineOperation* a, const EngineOperation* b) {
  if (a->work.priority != b->work.priority) {
    return a->work.priority < b->work.priority;
  }
  return a->number > b->number;
}

}  // namespace

void Lane::Put(EngineOperation& operation) {
  queue_.push_back(&operation);
  std::push_heap(queue_.begin(), queue_.end(), IsLater);
  came_.notify_one();
}

EngineOperation* Lane::Take() {
  if (queue_.empty()) return nullptr;
  std::pop_heap(queue_.begin(), queue_.end(), IsLater);
  EngineOperation* const first = queue_.back();
  queue_.pop_back();
  return first;
}

void Lane::Join() {
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

}  // namespace mxc::runtime
