// SPDX-License-Identifier: Apache-2.0
// Executors between two runs. All of a process together keep a bounded amount of
// memory: what was used longest ago goes first, and is bound again when its
// program is called once more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "runtime/executor/executor.h"
#include "runtime/executor/model.h"

namespace mxc::runtime {

// Used by any threads.
class IdleExecutors {
 public:
  // `most`: bytes; the last one that was given is kept however large it is.
  explicit IdleExecutors(uint64_t most) : most_(most) {}

  // One of that model; null: none is idle.
  std::unique_ptr<Executor> Take(const Model& model);
  void Give(std::unique_ptr<Executor> executor);
  // All of a model that nobody will ask for again.
  void Forget(const Model& model);

  uint64_t bytes() const;  // of those that are idle

 private:
  struct Idle {
    std::unique_ptr<Executor> executor;
    uint64_t bytes;
  };
  using List = std::list<Idle>;  // the one that was given last first

  std::unique_ptr<Executor> Remove(List::iterator at);

  const uint64_t most_;
  mutable std::mutex mutex_;
  List list_;
  std::unordered_multimap<const Model*, List::iterator> by_model_;
  uint64_t bytes_ = 0;
};

// Of its runs: intermediate values, states and scratch.
uint64_t OwnBytes(const Executor& executor);

}  // namespace mxc::runtime
