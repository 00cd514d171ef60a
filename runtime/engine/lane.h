// SPDX-License-Identifier: Apache-2.0
// Where operations run: a queue and the threads that serve it.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <thread>
#include <utility>
#include <vector>

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
  void Sleep(Lock& lock) {
    ++idle_;
    came_.wait(lock);
    --idle_;
  }
  void WakeAll() { came_.notify_all(); }
  void Join();

 private:
  std::vector<PushedOperation*> queue_;  // a heap
  std::condition_variable came_;
  const size_t limit_;
  size_t idle_ = 0;
  std::vector<std::thread> threads_;
};

}  // namespace mxc::runtime
