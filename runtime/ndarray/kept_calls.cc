// SPDX-License-Identifier: Apache-2.0
#include "runtime/ndarray/kept_calls.h"

#include <algorithm>
#include <utility>

namespace mxc::runtime {

void KeptCalls::Keep(std::shared_ptr<Kept> made) {
  std::shared_ptr<Kept> forgotten;  // ends behind the lock
  const std::lock_guard lock(mutex_);
  made->used_.store(++now_, std::memory_order_relaxed);
  if (kept_.size() < most_) {
    kept_.push_back(std::move(made));
    return;
  }
  const auto oldest =
      std::ranges::min_element(kept_, {}, [](const std::shared_ptr<Kept>& one) {
        return one->used_.load(std::memory_order_relaxed);
      });
  forgotten = std::exchange(*oldest, std::move(made));
}

void KeptCalls::Use(Kept& made) const {
  const uint64_t now = now_.load(std::memory_order_relaxed);
  // Most of the time nothing changes, and nothing is written.
  if (made.used_.load(std::memory_order_relaxed) == now) return;
  made.used_.store(now, std::memory_order_relaxed);
}

}  // namespace mxc::runtime
