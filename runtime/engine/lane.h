// SPDX-License-Identifier: Apache-2.0
// Where operations run: a queue and the threads that serve it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/base/spin.h"

namespace mxc::runtime {

class PushedOperation;

// Everything is under the engine's lock, but what threads do meanwhile.
class Lane {
 public:
  explicit Lane(int threads) : limit_(static_cast<size_t>(threads)) {}

  void Put(PushedOperation& operation);
  // The most urgent one, of those the first; null if there is none.
  PushedOperation* Take();
  bool IsEmpty() const { return queue_.empty(); }
  // Returns whether one more operation asks for one more thread.
  bool WantsThread() const {
    return queue_.size() >= idle_ && threads_.size() < limit_;
  }

  void Keep(std::thread thread) { threads_.push_back(std::move(thread)); }
  bool HasThreads() const { return !threads_.empty(); }
  // Until something is put, or all is over.
  template <class Lock>
  void Wait(Lock& lock);
  void WakeAll() {
    ++calls_;
    came_.notify_all();
  }
  void Join();

 private:
  std::vector<PushedOperation*> queue_;  // a heap
  std::condition_variable came_;
  std::atomic<uint64_t> calls_{0};  // for idle threads, of all that came
  bool somebody_looks_ = false;     // who does not sleep yet
  const size_t limit_;
  size_t idle_ = 0;
  std::vector<std::thread> threads_;
};

template <class Lock>
void Lane::Wait(Lock& lock) {
  ++idle_;
  const uint64_t seen = calls_;
  // To wake a thread takes who puts an operation longer than many operations take.
  if (!somebody_looks_) {
    somebody_looks_ = true;
    lock.unlock();
    SpinUntil([&] { return calls_.load(std::memory_order_relaxed) != seen; });
    lock.lock();
    somebody_looks_ = false;
  }
  if (calls_ == seen) came_.wait(lock);
  --idle_;
}

}  // namespace mxc::runtime
