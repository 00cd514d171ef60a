// SPDX-License-Identifier: Apache-2.0
// Executors between two runs, and memory for intermediate values in which one at a
// time runs. All of a process together keep a bounded amount of memory: what was
// used longest ago goes first, and is bound again when its program is called once
// more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "runtime/base/memory.h"
#include "runtime/executor/executor.h"
#include "runtime/executor/model.h"

namespace mxc::runtime {

// Used by any threads.
class IdleExecutors {
 public:
  // `most`: bytes; the last one that was given is kept however large it is.
  explicit IdleExecutors(uint64_t most) : most_(most) {}

  using Arena = std::shared_ptr<const Region>;
  // Has the arena as long as it lives, unless somebody else has it.
  class ArenaLoan {
   public:
    // At least so many bytes; 0: none is needed.
    ArenaLoan(IdleExecutors& idle, uint64_t bytes)
        : idle_(idle), arena_(bytes > 0 ? idle.Lend(bytes) : nullptr) {}
    ArenaLoan(const ArenaLoan&) = delete;
    ArenaLoan& operator=(const ArenaLoan&) = delete;
    ~ArenaLoan() {
      if (arena_ != nullptr) idle_.TakeBack();
    }
    const Arena& arena() const { return arena_; }  // or null

   private:
    IdleExecutors& idle_;
    const Arena arena_;
  };

  // One of that model and arena (null: of its own memory); null: none is idle.
  std::unique_ptr<Executor> Take(const Model& model, const Arena& arena);
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

  // Null: it is lent, or there is no memory.
  Arena Lend(uint64_t bytes);
  void TakeBack();

  using Ended = std::vector<std::unique_ptr<Executor>>;
  // Under the lock, outside of which they end.
  std::unique_ptr<Executor> Remove(List::iterator at);
  Ended RemoveThoseInArena();

  const uint64_t most_;
  mutable std::mutex mutex_;
  List list_;
  std::unordered_multimap<const Model*, List::iterator> by_model_;
  uint64_t bytes_ = 0;
  Arena arena_;
  bool is_lent_ = false;
};

// Of its runs: states, scratch, and intermediate values in an arena of its own.
uint64_t OwnBytes(const Executor& executor);

}  // namespace mxc::runtime
