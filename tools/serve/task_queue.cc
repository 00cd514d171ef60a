// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/task_queue.h"

#include <utility>

namespace mxc::serve {

BoundedQueue::BoundedQueue(size_t workers) : limit_(workers) {
  for (size_t i = 0; i < workers; ++i) {
    threads_.emplace_back([this] { Work(); });
  }
}

void BoundedQueue::enqueue(std::function<void()> task) {
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return tasks_.size() < limit_ || ended_; });
    tasks_.push_back(std::move(task));
  }
  changed_.notify_all();
}

void BoundedQueue::shutdown() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void BoundedQueue::Work() {
  for (;;) {
    std::function<void()> task;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return !tasks_.empty() || ended_; });
      if (tasks_.empty()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    changed_.notify_all();
    task();
  }
}

}  // namespace mxc::serve
