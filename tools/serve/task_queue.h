// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <httplib.h>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace mxc::serve {

// So many connections are served at once; as many again may wait here, and
// whoever comes then waits in the system's queue: no number of clients makes
// the server larger.
class BoundedQueue : public httplib::TaskQueue {
 public:
  explicit BoundedQueue(size_t workers);

  void enqueue(std::function<void()> task) override;  // waits for room
  void shutdown() override;  // what is in the queue is still done

 private:
  void Work();

  const size_t limit_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  bool ended_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace mxc::serve
