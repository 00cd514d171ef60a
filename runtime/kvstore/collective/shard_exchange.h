// SPDX-License-Identifier: Apache-2.0
// What workers exchange who share the making of updates: sums of gradients, of
// which each gets those that it owns (a reduce-scatter), and the values that
// owners make of them, which all others get (an all-gather). Messages go
// straight from one worker to another, so each sends and receives as much as in
// a ring, and no sum waits for more than one message of each.
//
// A worker begins a round once it is done with the last but one, for which it has
// heard of all others, if only that they own nothing of it: what comes before it
// is asked for is two rounds at most.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "runtime/kvstore/collective/exchange_thread.h"
#include "runtime/kvstore/collective/mesh.h"
#include "runtime/kvstore/collective/rounds.h"

namespace mxc::kvstore {

// Used by one thread at a time.
class ShardExchange {
 public:
  // Waits until all workers are connected.
  static StatusOr<std::unique_ptr<ShardExchange>> Make(
      std::unique_ptr<Mesh> mesh);

  // For messages of others than this in other slots than kSlot.
  static constexpr uint64_t kSlot = 0;
  Mesh& mesh() const { return *mesh_; }

  // Begins, and returns; until Wait the values belong to the exchange. All
  // workers begin the same ones in the same order. What this worker owns becomes
  // the sum over all workers, of the bytes that AllReduce makes; what others own
  // stays as it is.
  void BeginSum(std::vector<Round> rounds);
  // What others own becomes what they have.
  void BeginGather(std::vector<Round> rounds);
  // Until so many of those that were begun are over, from the first on.
  Status Wait(uint64_t exchanges) { return thread_->Wait(exchanges); }
  Status Wait() { return Wait(begun()); }
  // How many were begun.
  uint64_t begun() const { return thread_->begun(); }

 private:
  enum class Kind { kSum, kGather };
  struct Flight;

  explicit ShardExchange(std::unique_ptr<Mesh> mesh) : mesh_(std::move(mesh)) {}
  Status Run(Kind kind, const std::vector<Round>& rounds);
  void Post(Flight& flight);
  Status Finish(Flight& flight);
  void AddUp(const Flight& flight);

  const std::unique_ptr<Mesh> mesh_;
  std::vector<float> staged_[2];  // what comes of sums, of each second round
  std::optional<ExchangeThread> thread_;  // last: it uses the rest
};

}  // namespace mxc::kvstore
