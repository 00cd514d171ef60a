// SPDX-License-Identifier: Apache-2.0
// Queues requests and runs those of one network as a batch. Any thread may
// push.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "tools/serve/message.h"
#include "tools/serve/predictor.h"

namespace mxc::serve {

struct Job {
  std::shared_ptr<Predictor> predictor;
  std::shared_ptr<const Request> request;
  Respond respond;
  int64_t since = 0;  // Nanoseconds()
};

// A fixed number of workers and the requests that wait for them. A worker takes
// as many of one network as may run together.
class BatchQueue {
 public:
  struct Options {
    size_t workers = 1;
    size_t most_waiting = 1;
    int64_t delay = 0;     // nanoseconds that a request waits for others
    int64_t patience = 0;  // nanoseconds; who waits longer is told 503
  };

  explicit BatchQueue(const Options& options);
  ~BatchQueue();  // what waits is answered first

  // False where as many wait as may.
  bool Push(Job job);

  size_t waiting() const;
  uint64_t batches() const { return batches_; }
  uint64_t requests() const { return requests_; }

 private:
  void Work();
  std::vector<Job> Take();  // empty: it ends
  bool Complete(std::unique_lock<std::mutex>& lock);

  const Options options_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  bool ended_ = false;
  std::atomic<uint64_t> batches_ = 0, requests_ = 0;
  std::vector<std::thread> threads_;
};

}  // namespace mxc::serve
