// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/lane.h"

#include <algorithm>

#include "runtime/engine/operation.h"

namespace mxc::runtime {
namespace {

bool IsLater(const PushedOperation* a, const PushedOperation* b) {
  if (a->what.priority != b->what.priority) {
    return a->what.priority < b->what.priority;
  }
  return a->number > b->number;
}

}  // namespace

void Lane::Put(PushedOperation& operation) {
  queue_.push_back(&operation);
  std::push_heap(queue_.begin(), queue_.end(), IsLater);
  ++calls_;
  came_.notify_one();
}

PushedOperation* Lane::Take() {
  if (queue_.empty()) return nullptr;
  std::pop_heap(queue_.begin(), queue_.end(), IsLater);
  PushedOperation* const first = queue_.back();
  queue_.pop_back();
  return first;
}

void Lane::Join() {
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

}  // namespace mxc::runtime
