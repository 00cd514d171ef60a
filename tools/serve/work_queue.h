// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace mxc::serve {

// A fixed number of threads and what waits for them, which is bounded.
class WorkQueue {
 public:
  WorkQueue(size_t workers, size_t most_waiting);
  ~WorkQueue();  // what waits is done first

  // False where as many wait as may.
  bool Push(std::function<void()> job);
  size_t waiting() const;

 private:
  void Work();

  const size_t most_waiting_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;
  bool ended_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace mxc::serve
