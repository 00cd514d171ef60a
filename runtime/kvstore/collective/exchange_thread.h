// SPDX-License-Identifier: Apache-2.0
// Exchanges between the workers of a job that go on beside what a worker
// computes: one after the other, on a thread of their own.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "runtime/kvstore/collective/mesh.h"

namespace mxc::kvstore {

// Used by one thread at a time.
class ExchangeThread {
 public:
  using Exchange = std::function<Status()>;

  // What exchanges go over must outlive it, and is broken if one is under way
  // when it ends.
  explicit ExchangeThread(Mesh& mesh);
  ~ExchangeThread();

  // Begins one, and returns. All workers begin the same ones in the same order.
  // An error is for good: Wait tells it.
  void Begin(Exchange exchange);
  // Until so many of those that were begun are over, from the first on.
  Status Wait(uint64_t exchanges);
  // How many were begun.
  uint64_t begun() const { return begun_; }

 private:
  void Loop();

  Mesh& mesh_;
  uint64_t begun_ = 0;
  std::mutex mutex_;  // of those that follow
  std::condition_variable changed_;
  std::deque<Exchange> waiting_;
  uint64_t done_ = 0;
  Status failed_;
  bool stop_ = false;
  std::thread thread_;  // last: it uses the rest
};

}  // namespace mxc::kvstore
